/** Other people's pods: how they are read, and what is written on them. */
@NullMarked
package dev.stasis.operator.pod;

import org.jspecify.annotations.NullMarked;
