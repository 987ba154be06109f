/**
 * The pod into which a workload is restored, derived from the frozen pod by one pure function,
 * {@link dev.stasis.operator.target.TargetMaker}.
 */
@NullMarked
package dev.stasis.operator.target;

import org.jspecify.annotations.NullMarked;
