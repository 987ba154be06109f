package dev.stasis.api.v1alpha1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** What lies on one node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeUsage(
    @Required @JsonPropertyDescription("The node.") String node,
    @JsonPropertyDescription("Bytes of the artifacts there.") @Nullable Long usedBytes,
    @JsonPropertyDescription("Free bytes of its file system.") @Nullable Long freeBytes,
    @JsonPropertyDescription("Number of artifacts there.") @Nullable Integer artifacts,
    @JsonPropertyDescription("Whether the agent can write to it.") @Nullable Boolean writable,
    @JsonPropertyDescription("Why not.") @Nullable String message) {}
