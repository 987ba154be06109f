package dev.stasis.agent.daemon.operation;

import java.nio.file.Path;

/** Where the stores of this cluster lie on this node. */
public interface StoreRoots {

  /**
   * The root folder of a GpuCheckpointStore.
   *
   * @throws Refused when there is no such store, or it cannot be reached from this node
   */
  Root of(String store) throws ApiUnreachable, Refused;

  /**
   * A root.
   *
   * @param folder on this node
   * @param nodeLocal whether other nodes do not reach it
   */
  record Root(Path folder, boolean nodeLocal) {}
}
