package dev.stasis.operator.status;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import java.time.Instant;
import java.util.Set;

/**
 * Determines whether a GpuRestore has brought back the workload of a GpuCheckpoint. A GpuRestore
 * refers to its GpuCheckpoint by name and may outlive it. It then belongs to the earlier one, not
 * to a later one with the same name.
 */
public record BroughtBack(GpuCheckpoint checkpoint) {

  /**
   * Returns whether a restore with the name of the checkpoint ended in one of these phases since
   * the checkpoint was created. The restore may be older, because it may have waited for it.
   */
  public boolean by(GpuRestore restore, Set<RestorePhase> phases) {
    return phases.contains(CurrentPhase.of(restore))
        && PhaseLog.of(restore.getStatus())
            .since()
            .filter(ended -> !ended.isBefore(created()))
            .isPresent();
  }

  private Instant created() {
    return Instant.parse(checkpoint.getMetadata().getCreationTimestamp());
  }
}
