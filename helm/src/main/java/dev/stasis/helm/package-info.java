/** The chart as others see it: rendered, without a helm on the machine. */
@NullMarked
package dev.stasis.helm;

import org.jspecify.annotations.NullMarked;
