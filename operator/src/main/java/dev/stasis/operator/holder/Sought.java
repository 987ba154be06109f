package dev.stasis.operator.holder;

import dev.stasis.compat.Fingerprint;
import io.fabric8.kubernetes.api.model.Pod;
import org.jspecify.annotations.Nullable;

/**
 * A workload for which a place is sought.
 *
 * @param wanted what the place must have
 * @param image of the workload, as a target has to name it
 * @param pod as it was before it was touched
 * @param container the workload's
 * @param node on which it was; empty text when nobody wrote it down
 * @param only the one node that has its artifact; null: any node reaches it
 */
public record Sought(
    Fingerprint wanted,
    String image,
    Pod pod,
    String container,
    String node,
    @Nullable String only) {}
