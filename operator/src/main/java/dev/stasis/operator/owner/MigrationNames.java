package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.operator.cluster.NamesOnly;

/** Caches only the names of GpuMigrations. */
public final class MigrationNames extends NamesOnly<GpuMigration> {

  /** Used by the framework, which creates instances by reflection. */
  public MigrationNames() {
    super(GpuMigration::new);
  }
}
