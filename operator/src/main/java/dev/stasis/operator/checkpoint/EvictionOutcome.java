package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodState;
import java.util.stream.Stream;

/**
 * Determines whether an evicted workload exists only in its artifact.
 *
 * @param freeze the operation that froze the workload
 */
record EvictionOutcome(CheckpointContext context, OperationView freeze) {

  /**
   * Returns whether the pod of a finished freeze with a complete artifact is removed. If it was
   * evicted while its agent thawed it, or while its node rebooted, the operation failed, but the
   * workload exists only in the artifact.
   */
  boolean isOnlyCopy() {
    return isEviction()
        && (freeze.artifact().isPresent() || isLostAfterUpload())
        && context.isPodLeaving()
        && !freeze.isLeftFrozen();
  }

  /**
   * Returns whether the workload is lost and its upload is complete. The agent of a rebooted node
   * reads only the copy on its disk, and does not name a damaged one.
   */
  private boolean isLostAfterUpload() {
    ArtifactStatus artifact = context.status().getArtifact();
    return artifact != null
        && artifact.getDurability() != null
        && artifact.getNode() == null
        && freeze.ended(Outcome.LOST);
  }

  /** A restore must not run beside a thawed workload that is still being terminated. */
  boolean isEnding() {
    return freeze.workload() == WorkloadState.RUNNING
        && context.pod().filter(pod -> new PodState(pod).isIn("Running")).isPresent();
  }

  /** Returns whether the pod is removed, and other nodes can read its complete artifact. */
  boolean outlivesItsNode() {
    return isEviction()
        && freeze.phase() == OperationPhase.HELD
        && context.isPodLeaving()
        && Stream.concat(
                Stream.ofNullable(context.status().getArtifact()), freeze.artifact().stream())
            .anyMatch(artifact -> artifact.getNode() == null);
  }

  private boolean isEviction() {
    return context.spec().getAfterCheckpoint() == AfterCheckpoint.EVICT;
  }
}
