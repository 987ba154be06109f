/** Answers the kubelet's probes for a frozen workload, on the workload's own listening sockets. */
@NullMarked
package dev.stasis.agent.daemon.probes;

import org.jspecify.annotations.NullMarked;
