package dev.stasis.agent.daemon.remote;

import dev.stasis.api.v1beta1.GpuCheckpointStore;

/** For tests of stores without a claim. */
public final class NoClaims implements ClaimMounts {
  @Override
  public MountedVolume find(GpuCheckpointStore store) {
    throw new AssertionError("expected a store without a claim");
  }
}
