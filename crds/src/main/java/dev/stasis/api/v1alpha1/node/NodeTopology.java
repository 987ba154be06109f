package dev.stasis.api.v1alpha1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** What every choice of that many GPUs of the node fulfils. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeTopology(
    @Required @JsonPropertyDescription("Number of GPUs.") Integer gpus,
    @Required
        @JsonPropertyDescription(
            "Short hash, the value of the node label topology.stasis.dev/gpus-N.")
        String hash,
    @JsonPropertyDescription("What the hash stands for, one property a line.")
        @Nullable String fingerprint) {}
