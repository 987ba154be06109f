package dev.stasis.operator.status;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.Phase;
import dev.stasis.api.v1beta1.common.PhasedStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import org.jspecify.annotations.Nullable;

/** The phase of a request; Pending before its first reconciliation. */
public final class CurrentPhase {

  private CurrentPhase() {}

  public static CheckpointPhase of(GpuCheckpoint checkpoint) {
    return of(checkpoint.getStatus(), CheckpointPhase.PENDING);
  }

  public static RestorePhase of(GpuRestore restore) {
    return of(restore.getStatus(), RestorePhase.PENDING);
  }

  public static MigrationPhase of(GpuMigration migration) {
    return of(migration.getStatus(), MigrationPhase.PENDING);
  }

  private static <P extends Enum<P> & Phase<P>> P of(@Nullable PhasedStatus<P> status, P first) {
    P phase = status == null ? null : status.getPhase();
    return phase == null ? first : phase;
  }
}
