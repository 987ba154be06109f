/**
 * Queries the container runtime and the kubelet about pods on this node: their processes and GPUs,
 * and running commands in containers. Facts that the kernel can provide are read from the kernel
 * instead.
 */
@NullMarked
package dev.stasis.agent.daemon.kubelet;

import org.jspecify.annotations.NullMarked;
