package dev.stasis.operator.holder;

import dev.stasis.compat.Fingerprint;
import io.fabric8.kubernetes.api.model.Pod;
import org.jspecify.annotations.Nullable;

/**
 * A workload for which a node is sought.
 *
 * @param wanted the requirements for the node
 * @param image image of the workload, as a target must name it
 * @param pod the pod before it was touched
 * @param container the workload's container
 * @param node its former node; empty if unknown
 * @param only the only node with its artifact; null if any node can read it
 */
public record Sought(
    Fingerprint wanted,
    String image,
    Pod pod,
    String container,
    String node,
    @Nullable String only) {}
