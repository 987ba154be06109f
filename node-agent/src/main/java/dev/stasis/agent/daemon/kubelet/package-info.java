/**
 * What the container runtime and the kubelet say of pods on this node: where a container runs,
 * which GPUs it was given, and how a command is run in it. Asked over their sockets, believed for
 * nothing that the kernel can be asked.
 */
@NullMarked
package dev.stasis.agent.daemon.kubelet;

import org.jspecify.annotations.NullMarked;
