package dev.stasis.operator.status;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import java.time.Instant;

/** The state of a workload that a GpuCheckpoint has saved. */
public record SavedState(GpuCheckpoint checkpoint) {

  /** Returns its time, at the latest: an import does not know when its workload was frozen. */
  public Instant time() {
    PhaseLog<CheckpointPhase> phases = PhaseLog.of(checkpoint.getStatus());
    return phases
        .first(CheckpointPhase.FREEZING)
        .or(() -> phases.first(CheckpointPhase.SAVING))
        .orElseGet(() -> Instant.parse(checkpoint.getMetadata().getCreationTimestamp()));
  }
}
