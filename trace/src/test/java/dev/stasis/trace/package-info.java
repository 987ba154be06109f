@NullMarked
package dev.stasis.trace;

import org.jspecify.annotations.NullMarked;
