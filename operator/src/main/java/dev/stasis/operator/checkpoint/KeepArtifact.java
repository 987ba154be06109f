package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.status.BroughtBack;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reports whether the artifact can be restored, until the object is deleted or its TTL is over. */
final class KeepArtifact extends CheckpointStep {

  private final FinishedCheckpoint finished;
  private final CheckpointFinalizer finalizer;
  private final Consumer<GpuCheckpoint> delete;

  /**
   * @param delete deletes a GpuCheckpoint
   */
  KeepArtifact(
      FinishedCheckpoint finished, CheckpointFinalizer finalizer, Consumer<GpuCheckpoint> delete) {
    super(
        "keep-artifact",
        List.of(CheckpointPhase.READY),
        new Timeout(
            "spec.options.ttlAfterReady", "If it is not set, the artifact has no time limit."));
    this.finished = finished;
    this.finalizer = finalizer;
    this.delete = delete;
  }

  @Override
  public Duration longestWait() {
    return Requeue.IDLE;
  }

  /** The finalizer deletes it once every operation is finished. */
  @Override
  public String undoes() {
    return "deletes the artifact, unless it is retained or the only copy";
  }

  @Override
  protected Progress observeUndo(CheckpointContext context) {
    return finalizer.endOperations(context);
  }

  @Override
  protected Progress observe(CheckpointContext context) {
    boolean current = context.isReady() && (context.isImport() || context.freeze().isEmpty());
    return current ? new Progress.Due(() -> run(context)) : new Progress.Done();
  }

  private Progress run(CheckpointContext context) {
    finished.observe(context);
    ArtifactStatus artifact = context.status().getArtifact();
    if (artifact != null) {
      context.restorable().update(context);
      if (isLost(context, artifact.getNode())) {
        context.status().setNodesFit(0);
        context
            .reporter()
            .fail(
                Reason.ARTIFACT_LOST,
                "node " + artifact.getNode() + " is gone, and the artifact on its disk with it");
      } else {
        List<ObjectReference> users = context.artifactUsers();
        context.status().setInUseBy(users.isEmpty() ? null : users);
        expire(context, users);
      }
    }
    if (!context.isImport()) {
      new TimeSliceScheduler(context).running();
    }
    return context.reported();
  }

  /**
   * Returns whether the artifact was on the disk of a node that does not exist any more. A node
   * that only registers again is back at once, so it must be missing for orphanAfter; that it was
   * cordoned or not ready before does not count.
   */
  private static boolean isLost(CheckpointContext context, @Nullable String node) {
    if (node == null || !context.agent(node).nodeGone()) {
      return false;
    }
    Optional<Instant> lost =
        context
            .conditions()
            .find(ConditionType.RESTORABLE)
            .filter(condition -> Reason.NODE_GONE.is(condition.reason()))
            .map(missing -> missing.lastTransitionTime().plus(context.config().orphanAfter()));
    lost.ifPresent(context::requeueAt);
    return lost.filter(end -> !context.now().isBefore(end)).isPresent();
  }

  private void expire(CheckpointContext context, List<ObjectReference> users) {
    TimeSpan ttl = context.spec().getOptions().getTtlAfterReady();
    if (ttl == null) {
      return;
    }
    Instant end = context.readyTime().orElse(context.now()).plus(ttl.duration());
    if (context.now().isBefore(end)) {
      context.requeueAt(end);
    } else if (users.isEmpty() && !isOnlyCopy(context)) {
      delete.accept(context.object());
    }
  }

  /**
   * Returns whether the workload was evicted, or lost while it was suspended, and exists only in
   * the artifact. Without the object it could not be restored, and its controller would start
   * another pod from the image.
   */
  private static boolean isOnlyCopy(CheckpointContext context) {
    BroughtBack back = new BroughtBack(context.object());
    return (context.conditions().isEvicted() || context.conditions().isLost())
        && context.restores().stream()
            .noneMatch(restore -> back.by(restore, Set.of(RestorePhase.SUCCEEDED)));
  }
}
