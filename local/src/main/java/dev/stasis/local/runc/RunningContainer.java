package dev.stasis.local.runc;

import java.util.concurrent.CompletableFuture;

/**
 * A container that was started.
 *
 * @param config what it is
 * @param bundle where its parts lie
 * @param pid its first process, as this machine sees it
 * @param exit its exit code once it has ended: 128 and the signal's number for one that was killed
 */
public record RunningContainer(
    ContainerConfig config, Bundle bundle, int pid, CompletableFuture<Integer> exit) {

  /** The runtime's name for it. */
  public String id() {
    return config.id();
  }
}
