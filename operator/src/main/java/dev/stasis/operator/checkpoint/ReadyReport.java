package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.operator.status.Reason;

/** Reports that the artifact of a freeze is complete. */
final class ReadyReport {

  /** Reports it, after the pod was removed. */
  void evicted(CheckpointContext context) {
    context.status().setFaults(null);
    context
        .updater()
        .source(
            ConditionValue.FALSE,
            Reason.EVICTED,
            "its pod was removed after the artifact was stored");
    write(context);
  }

  /** Reports it; the caller reports whether the workload runs. */
  void write(CheckpointContext context) {
    CheckpointStatusUpdater updater = context.updater();
    updater.transitionTo(CheckpointPhase.READY);
    // In the same write, so that a client that watches is notified once.
    context.restorable().write(context);
    String artifact = updater.artifact();
    updater.done(artifact);
    CheckpointTimings timings = context.status().getTimings();
    String frozen = timings == null ? null : timings.getFrozen();
    context
        .reporter()
        .normal(
            Reason.ARTIFACT_VERIFIED,
            artifact + (frozen == null ? "" : ", frozen for " + frozen),
            "ready");
  }
}
