package dev.stasis.agent.daemon.remote;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.store.MountedBlobs;
import dev.stasis.store.StoreException;
import java.nio.file.Path;

/** Finds the volumes of claims on this node. */
public interface ClaimMounts {

  /**
   * Returns where the volume of a store's claim is mounted.
   *
   * @throws StoreException if it is not mounted on this node
   */
  MountedVolume find(GpuCheckpointStore store) throws StoreException;

  /**
   * A mounted volume.
   *
   * @param root its path for the agent, valid while {@code mount} holds
   */
  record MountedVolume(Path root, MountedBlobs.Mount mount) {}
}
