package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** Usage of a store on a node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeUsage(
    @Required @JsonPropertyDescription("The node.") String node,
    @JsonPropertyDescription("Size of the artifacts on the node, in bytes.")
        @Nullable Long usedBytes,
    @JsonPropertyDescription("Free bytes of the file system.") @Nullable Long freeBytes,
    @JsonPropertyDescription("Number of artifacts on the node.") @Nullable Integer artifacts,
    @JsonPropertyDescription("Whether the agent can write to it.") @Nullable Boolean writable,
    @JsonPropertyDescription("Why the store is not writable.") @Nullable String message) {}
