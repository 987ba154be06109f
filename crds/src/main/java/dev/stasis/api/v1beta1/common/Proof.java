package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Evidence that a restored workload runs. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Proof(
    @Required @JsonPropertyDescription("Time of the observation.") Instant time,
    @JsonPropertyDescription("Every process of the workload.")
        @Nullable List<ProcessProof> processes,
    @JsonPropertyDescription("Device memory recorded in the artifact, in bytes.")
        @Nullable Long gpuBytesWanted,
    @JsonPropertyDescription("Device memory reported by the driver after the restore, in bytes.")
        @Nullable Long gpuBytesFound) {}
