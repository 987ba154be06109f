/**
 * The pod into which a workload is restored, made from the pod that was frozen: one pure function,
 * {@link dev.stasis.operator.target.TargetMaker}.
 */
@NullMarked
package dev.stasis.operator.target;

import org.jspecify.annotations.NullMarked;
