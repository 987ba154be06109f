package dev.stasis.api.v1beta1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A run of a schedule for one pod. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ScheduledRun(
    @JsonPropertyDescription("Name of the GpuCheckpoint.") @Nullable String checkpoint,
    @Required @JsonPropertyDescription("Name of the pod.") String pod,
    @Required @JsonPropertyDescription("Time at which the run was due.") Instant time,
    @JsonPropertyDescription("Phase of the GpuCheckpoint. Unset for a skipped run.")
        @Nullable CheckpointPhase phase,
    @JsonPropertyDescription("Machine-readable reason, in CamelCase.") @Nullable String reason,
    @JsonPropertyDescription("Size of the artifact in bytes.") @Nullable Long bytes,
    @JsonPropertyDescription("Human-readable size.") @Nullable String size,
    @JsonPropertyDescription("Human-readable freeze time.") @Nullable String frozen) {}
