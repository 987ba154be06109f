package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.metric.Leadership;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Counts a GpuCheckpoint when it ends. Counts what the watch shows, so each status that was written
 * is counted once; a reconciliation whose write fails is repeated.
 */
@Singleton
class CheckpointMetrics {

  private static final Set<CheckpointPhase> ENDS =
      Set.of(
          CheckpointPhase.READY,
          CheckpointPhase.SUSPENDED,
          CheckpointPhase.EXPLAINED,
          CheckpointPhase.FAILED,
          CheckpointPhase.CANCELLED);

  /** A suspension without an artifact, and a dry run, do not have the first one. */
  private static final List<ConditionType> SUMMARIES =
      List.of(ConditionType.READY, ConditionType.SUSPENDED, ConditionType.FEASIBLE);

  private final StasisMetrics metrics;
  private final Leadership leadership;

  CheckpointMetrics(StasisMetrics metrics, Leadership leadership) {
    this.metrics = metrics;
    this.leadership = leadership;
  }

  /** An earlier operator has counted what ended before the start. */
  void begin(@Observes StartupEvent started, Informers informers) {
    informers.listen(GpuCheckpoint.class, change -> observe(change, informers));
  }

  void observe(Changed<GpuCheckpoint> change, Cluster cluster) {
    // Each replica watches, and only one may count.
    if (change.cameOrWent() || !leadership.leads()) {
      return;
    }
    GpuCheckpointStatus before = status(change.before().orElseThrow());
    GpuCheckpoint checkpoint = change.subject();
    GpuCheckpointStatus after = status(checkpoint);
    if (Conditions.of(after).isLost()
        && !Conditions.of(before).isLost()
        && !cluster.isNamespaceDeleted(checkpoint.getMetadata().getNamespace())) {
      // Perhaps long after its end: a workload may end while its agent retries the thaw.
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
    Conditions conditions = Conditions.of(status);
    String reason =
        SUMMARIES.stream()
            .flatMap(type -> conditions.find(type).stream())
            .map(Condition::reason)
            .findFirst()
            .orElse("Unknown");
    metrics.ended(checkpoint, after.value(), reason);
    // A resumed suspension has been counted when it was suspended.
    if (status.getTimings() != null && before != CheckpointPhase.SUSPENDED) {
      Optional.ofNullable(status.getTimings().getFrozenMilliseconds())
          .map(Duration::ofMillis)
          .ifPresent(metrics::frozen);
    }
    if (after == CheckpointPhase.READY && status.getArtifact() != null) {
      Optional.ofNullable(status.getArtifact().getBytes()).ifPresent(metrics::stored);
    }
  }

  private static GpuCheckpointStatus status(GpuCheckpoint checkpoint) {
    return Objects.requireNonNullElseGet(checkpoint.getStatus(), GpuCheckpointStatus::new);
  }
}
