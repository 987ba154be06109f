package dev.stasis.operator.owner;

import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.operator.cluster.NamesOnly;

/** Which GpuMigrations there are. */
public final class MigrationNames extends NamesOnly<GpuMigration> {

  /** For the framework, which makes it by its class. */
  public MigrationNames() {
    super(GpuMigration::new);
  }
}
