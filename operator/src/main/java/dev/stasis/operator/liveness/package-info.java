/**
 * Whether a workload may stand still for as long as a freeze takes, before its kubelet kills it.
 */
@NullMarked
package dev.stasis.operator.liveness;

import org.jspecify.annotations.NullMarked;
