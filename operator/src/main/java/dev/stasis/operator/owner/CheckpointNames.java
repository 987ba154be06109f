package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.cluster.NamesOnly;

/** Caches only the names of GpuCheckpoints. */
public final class CheckpointNames extends NamesOnly<GpuCheckpoint> {

  /** Used by the framework, which creates instances by reflection. */
  public CheckpointNames() {
    super(GpuCheckpoint::new);
  }
}
