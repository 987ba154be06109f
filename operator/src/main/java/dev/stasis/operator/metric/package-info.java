/** Metrics, without names of pods or objects as labels. */
@NullMarked
package dev.stasis.operator.metric;

import org.jspecify.annotations.NullMarked;
