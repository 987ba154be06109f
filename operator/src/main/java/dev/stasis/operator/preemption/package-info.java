/**
 * GpuPreemptionPolicy: selects the pods that are checkpointed and evicted so that a waiting pod of
 * a higher priority fits on one node, and restores them.
 */
@NullMarked
package dev.stasis.operator.preemption;

import org.jspecify.annotations.NullMarked;
