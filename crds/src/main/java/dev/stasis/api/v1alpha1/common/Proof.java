package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Why a restored workload counts as running. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Proof(
    @Required @JsonPropertyDescription("When it was seen.") Instant time,
    @JsonPropertyDescription("Every process of the workload.")
        @Nullable List<ProcessProof> processes,
    @JsonPropertyDescription("Device memory that was recorded, in bytes.")
        @Nullable Long gpuBytesWanted,
    @JsonPropertyDescription("Device memory that the driver gives now, in bytes.")
        @Nullable Long gpuBytesFound) {}
