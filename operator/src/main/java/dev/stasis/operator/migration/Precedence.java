package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import java.util.Comparator;

/**
 * Which of two migrations of one pod proceeds: one with a target, otherwise the older one. Creation
 * times have whole seconds; within one second the uid decides.
 */
final class Precedence implements Comparator<GpuMigration> {

  private static final Comparator<GpuMigration> ORDER =
      Comparator.comparing(Precedence::waits)
          .thenComparing((GpuMigration it) -> it.getMetadata().getCreationTimestamp())
          .thenComparing(it -> it.getMetadata().getUid());

  @Override
  public int compare(GpuMigration one, GpuMigration other) {
    return ORDER.compare(one, other);
  }

  private static boolean waits(GpuMigration migration) {
    GpuMigrationStatus status = migration.getStatus();
    return status == null || status.getTarget() == null;
  }
}
