package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/** Memory that a freeze needs inside the pod's limit. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Room(
    @JsonPropertyDescription("Memory that is needed at the worst moment, in bytes.")
        @Nullable Long neededBytes,
    @JsonPropertyDescription("Memory that is used now, in bytes.") @Nullable Long usedBytes,
    @JsonPropertyDescription("The limit, in bytes; none where there is no limit.")
        @Nullable Long limitBytes,
    @JsonPropertyDescription("The limit before the pod was resized, as its spec had it.")
        @Nullable String originalLimit,
    @JsonPropertyDescription("Memory of the node above its eviction threshold, in bytes.")
        @Nullable Long nodeFreeBytes) {}
