@NullMarked
package dev.stasis.operator.trace;

import org.jspecify.annotations.NullMarked;
