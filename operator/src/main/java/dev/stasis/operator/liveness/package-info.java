/**
 * Determines whether a workload may be frozen for the expected time before its kubelet kills it.
 */
@NullMarked
package dev.stasis.operator.liveness;

import org.jspecify.annotations.NullMarked;
