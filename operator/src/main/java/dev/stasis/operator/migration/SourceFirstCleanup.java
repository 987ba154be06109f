package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.CurrentPhase;
import java.time.Duration;
import java.util.Optional;

/**
 * Deletes the objects of a migration with strategy Recreate, once the workload runs or the
 * migration is deleted.
 */
final class SourceFirstCleanup {

  /** A kubelet lowers a limit within moments, or never. */
  private static final Duration RAISED = Duration.ofMinutes(5);

  private final SourceFirstObjects objects;
  private final Cluster cluster;

  SourceFirstCleanup(SourceFirstObjects objects, Cluster cluster) {
    this.objects = objects;
    this.cluster = cluster;
  }

  /**
   * Deletes the GpuCheckpoint, and its artifact with it, once the workload runs.
   *
   * @return whether it is gone, or kept because it is the only copy
   */
  boolean afterEnd(MigrationContext context) {
    Optional<GpuCheckpoint> checkpoint = objects.seen(context.migration());
    if (checkpoint.isEmpty() || !runs(context)) {
      return true;
    }
    if (!isRaised(context)) {
      objects.forget(checkpoint.get());
    }
    return false;
  }

  /**
   * Returns whether the target's memory limit must be lowered to the value in the GpuCheckpoint.
   */
  private boolean isRaised(MigrationContext context) {
    return context.entered().plus(RAISED).isAfter(context.now())
        && objects
            .restore(context.migration())
            .map(GpuRestore::getStatus)
            .filter(status -> Conditions.of(status).isFalse(ConditionType.ROOM_RETURNED))
            .isPresent();
  }

  /**
   * The migration is deleted: objects that are no longer needed are deleted first. A successful
   * restore shows the GpuCheckpoint that its artifact is not the only copy.
   *
   * @return whether that is done
   */
  boolean beforeRemoval(MigrationContext context) {
    if (context.status().getCheckpoint() == null) {
      return true;
    }
    if (runs(context)) {
      Optional<GpuCheckpoint> left = objects.checkpoint(context.migration());
      left.ifPresent(objects::forget);
      if (left.isPresent()) {
        return false;
      }
    }
    cluster.restoresFor(context.migration().getMetadata().getUid()).stream()
        .filter(it -> isOver(it, runs(context)))
        .forEach(objects::forget);
    return true;
  }

  private static boolean isOver(GpuRestore restore, boolean runs) {
    RestorePhase phase = CurrentPhase.of(restore);
    return phase.isFinal() && (runs || phase != RestorePhase.SUCCEEDED);
  }

  /** Returns whether the workload runs, on either node. */
  private static boolean runs(MigrationContext context) {
    return switch (context.phase()) {
      case SUCCEEDED, ROLLED_BACK, CANCELLED -> true;
      case FAILED -> context.hasFailed();
      default -> false;
    };
  }
}
