/**
 * The pod into which a workload is restored, from the choice of its node until its holder waits, in
 * terms of the API server, the scheduler and the kubelet.
 */
@NullMarked
package dev.stasis.operator.holder;

import org.jspecify.annotations.NullMarked;
