package dev.stasis.local.runc;

import java.util.concurrent.CompletableFuture;

/**
 * A started container.
 *
 * @param config its configuration
 * @param bundle its paths
 * @param pid the host pid of its first process
 * @param exit its exit code once it has ended: 128 plus the number of the signal that killed it
 */
public record RunningContainer(
    ContainerConfig config, Bundle bundle, int pid, CompletableFuture<Integer> exit) {

  /** The name of the runtime. */
  public String id() {
    return config.id();
  }
}
