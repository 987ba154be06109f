package dev.stasis.api.v1beta1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An automatic restore of a failed pod. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AutomaticRestore(
    @Required @JsonPropertyDescription("Name of the GpuRestore.") String restore,
    @Required @JsonPropertyDescription("Name of the GpuCheckpoint that was used.")
        String checkpoint,
    @Required @JsonPropertyDescription("Name of the pod that failed.") String pod,
    @JsonPropertyDescription("UID of the pod that failed.") @Nullable String podUid,
    @JsonPropertyDescription("Node on which the pod that failed ran.") @Nullable String node,
    @Required @JsonPropertyDescription("Time of the failure.") Instant time,
    @JsonPropertyDescription("Machine-readable reason of the failure, in CamelCase.")
        @Nullable String reason,
    @JsonPropertyDescription("Newer GpuCheckpoints that were damaged or unreachable.")
        @Nullable List<String> skipped,
    @JsonPropertyDescription("Phase of the GpuRestore. Unset before it is created.")
        @Nullable RestorePhase phase) {

  /** Returns the same with another phase. */
  public AutomaticRestore withPhase(RestorePhase next) {
    return new AutomaticRestore(
        restore, checkpoint, pod, podUid, node, time, reason, skipped, next);
  }
}
