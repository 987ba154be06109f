package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** Topology that any choice of this number of GPUs on the node provides. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeTopology(
    @Required @JsonPropertyDescription("Number of GPUs.") Integer gpus,
    @Required
        @JsonPropertyDescription(
            "Short hash: the value of the node label topology.stasis.dev/gpus-N.")
        String hash,
    @JsonPropertyDescription("The hashed properties, one per line.")
        @Nullable String fingerprint) {}
