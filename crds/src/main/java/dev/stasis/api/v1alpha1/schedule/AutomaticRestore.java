package dev.stasis.api.v1alpha1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One pod that was brought back. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AutomaticRestore(
    @Required @JsonPropertyDescription("Name of the GpuRestore.") String restore,
    @Required @JsonPropertyDescription("Name of the GpuCheckpoint that was used.")
        String checkpoint,
    @Required @JsonPropertyDescription("Name of the pod that failed.") String pod,
    @JsonPropertyDescription("Uid of that pod.") @Nullable String podUid,
    @Required @JsonPropertyDescription("When it failed.") Instant time,
    @JsonPropertyDescription("What the failure was, in one word.") @Nullable String reason,
    @JsonPropertyDescription("Newer GpuCheckpoints that were damaged or out of reach.")
        @Nullable List<String> skipped,
    @JsonPropertyDescription("What became of the GpuRestore; none before it is there.")
        @Nullable RestorePhase phase) {}
