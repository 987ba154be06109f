/**
 * The pod into which a workload comes, from the choice of its place until its holder waits: in the
 * words of the API server, the scheduler and the kubelet.
 */
@NullMarked
package dev.stasis.operator.holder;

import org.jspecify.annotations.NullMarked;
