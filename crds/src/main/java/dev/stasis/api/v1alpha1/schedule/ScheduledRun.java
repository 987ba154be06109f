package dev.stasis.api.v1alpha1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One run for one pod. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ScheduledRun(
    @JsonPropertyDescription("Name of the GpuCheckpoint.") @Nullable String checkpoint,
    @Required @JsonPropertyDescription("Name of the pod.") String pod,
    @Required @JsonPropertyDescription("When it was due.") Instant time,
    @JsonPropertyDescription("What became of it; none for one that was skipped.")
        @Nullable CheckpointPhase phase,
    @JsonPropertyDescription("Why, in one word.") @Nullable String reason,
    @JsonPropertyDescription("Size of the artifact in bytes.") @Nullable Long bytes,
    @JsonPropertyDescription("The same, for people.") @Nullable String size,
    @JsonPropertyDescription("How long the workload stood still, for people.")
        @Nullable String frozen) {}
