package dev.stasis.api.v1alpha1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** A store as the node sees it. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeStore(
    @Required @JsonPropertyDescription("Name of the GpuCheckpointStore.") String name,
    @JsonPropertyDescription("Whether the agent can write to it.") @Nullable Boolean writable,
    @JsonPropertyDescription("Why not.") @Nullable String message,
    @JsonPropertyDescription("Size of its file system in bytes.") @Nullable Long totalBytes,
    @JsonPropertyDescription("Free bytes.") @Nullable Long freeBytes,
    @JsonPropertyDescription("The same, for people.") @Nullable String free,
    @JsonPropertyDescription("Bytes of all artifacts there.") @Nullable Long usedBytes,
    @JsonPropertyDescription("Number of artifacts there.") @Nullable Integer artifacts) {}
