package dev.stasis.operator.owner;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.operator.cluster.NamesOnly;

/** Which GpuCheckpoints there are. */
public final class CheckpointNames extends NamesOnly<GpuCheckpoint> {

  /** For the framework, which makes it by its class. */
  public CheckpointNames() {
    super(GpuCheckpoint::new);
  }
}
