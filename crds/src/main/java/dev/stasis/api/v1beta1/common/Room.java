package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/** Host memory that a freeze requires within the pod's limit. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Room(
    @JsonPropertyDescription("Peak memory required, in bytes.") @Nullable Long neededBytes,
    @JsonPropertyDescription("Memory in use before the freeze, in bytes.") @Nullable Long usedBytes,
    @JsonPropertyDescription("Memory limit in bytes. Unset if there is no limit.")
        @Nullable Long limitBytes,
    @JsonPropertyDescription("Memory limit in the pod's spec before the pod was resized.")
        @Nullable String originalLimit,
    @JsonPropertyDescription(
            "Available memory of the node above the kubelet's eviction threshold, in bytes.")
        @Nullable Long nodeFreeBytes) {}
