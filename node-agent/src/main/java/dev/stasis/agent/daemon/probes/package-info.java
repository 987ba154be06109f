/**
 * Answers the kubelet's probes in the name of a workload that stands still, on the workload's own
 * listening sockets.
 */
@NullMarked
package dev.stasis.agent.daemon.probes;

import org.jspecify.annotations.NullMarked;
