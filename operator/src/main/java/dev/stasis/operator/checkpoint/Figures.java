package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.CheckpointTimings;
import dev.stasis.api.v1alpha1.common.DataPath;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Counts a GpuCheckpoint when it comes to its end. It goes by what the watch tells, and so counts
 * what is really written, once: a turn whose write fails, or that saw an old status, comes again.
 */
@Singleton
class Figures {

  private static final String KIND = "GpuCheckpoint";
  private static final String SCHEDULE = "GpuCheckpointSchedule";

  private static final Set<CheckpointPhase> ENDS =
      Set.of(
          CheckpointPhase.READY,
          CheckpointPhase.SUSPENDED,
          CheckpointPhase.EXPLAINED,
          CheckpointPhase.FAILED,
          CheckpointPhase.CANCELLED);

  private final StasisMetrics metrics;

  Figures(StasisMetrics metrics) {
    this.metrics = metrics;
  }

  /** What was over before somebody looked was counted by whoever looked then. */
  void begin(@Observes StartupEvent started, Informers informers) {
    informers.listen(GpuCheckpoint.class, this::look);
  }

  void look(Changed<GpuCheckpoint> change) {
    if (change.cameOrWent()) {
      return;
    }
    GpuCheckpointStatus before = status(change.before().orElseThrow());
    GpuCheckpoint checkpoint = change.subject();
    GpuCheckpointStatus after = status(checkpoint);
    if (isLost(after) && !isLost(before)) {
      // Perhaps long after its end: one that could not be thawed ends while its agent tries again.
      metrics.workloadLost();
    }
    if (after.getPhase() != null
        && after.getPhase() != before.getPhase()
        && ENDS.contains(after.getPhase())) {
      count(before.getPhase(), checkpoint, after.getPhase());
    }
  }

  private void count(
      @Nullable CheckpointPhase before, GpuCheckpoint checkpoint, CheckpointPhase after) {
    GpuCheckpointStatus status = status(checkpoint);
    Conditions conditions = conditions(status);
    metrics.ended(KIND, after.word(), reason(conditions));
    Map<String, String> labels = checkpoint.getMetadata().getLabels();
    if (labels != null && labels.containsKey(Api.SCHEDULE_LABEL)) {
      // A run of a schedule: the alert NoRecentCheckpoint asks for these alone.
      metrics.ended(SCHEDULE, after.word(), reason(conditions));
    }
    // A resumed suspension has been counted when it was suspended.
    if (status.getTimings() != null && before != CheckpointPhase.SUSPENDED) {
      timings(status.getTimings(), status.getDataPath());
    }
  }

  private static boolean isLost(GpuCheckpointStatus status) {
    return conditions(status)
        .find(ConditionType.SOURCE_RUNNING)
        .filter(condition -> condition.reason().equals(Reason.WORKLOAD_LOST.word()))
        .isPresent();
  }

  private static Conditions conditions(GpuCheckpointStatus status) {
    return new Conditions(Objects.requireNonNullElse(status.getConditions(), List.of()));
  }

  private static GpuCheckpointStatus status(GpuCheckpoint checkpoint) {
    return Objects.requireNonNullElseGet(checkpoint.getStatus(), GpuCheckpointStatus::new);
  }

  private static String reason(Conditions conditions) {
    return conditions
        .find(ConditionType.READY)
        .map(condition -> condition.reason())
        .orElse("Unknown");
  }

  private void timings(CheckpointTimings timings, @Nullable DataPath path) {
    String way = path == null ? "None" : path.word();
    step("hooks", way, timings.getHooksMilliseconds());
    step("lock", way, timings.getLockMilliseconds());
    step("gpu-checkpoint", way, timings.getGpuCheckpointMilliseconds());
    step("move", way, timings.getMoveMilliseconds());
    step("dump", way, timings.getDumpMilliseconds());
    step("layer", way, timings.getLayerMilliseconds());
    step("store", way, timings.getStoreMilliseconds());
    step("fill", way, timings.getFillMilliseconds());
    step("resume", way, timings.getResumeMilliseconds());
    Optional.ofNullable(timings.getFrozenMilliseconds())
        .map(Duration::ofMillis)
        .ifPresent(metrics::frozen);
  }

  private void step(String step, String path, @Nullable Long milliseconds) {
    if (milliseconds != null) {
      metrics.step(KIND, step, path, Duration.ofMillis(milliseconds));
    }
  }
}
