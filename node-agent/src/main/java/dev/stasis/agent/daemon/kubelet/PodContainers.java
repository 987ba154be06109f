package dev.stasis.agent.daemon.kubelet;

import java.util.Optional;

/** The container runtime of this node. */
public interface PodContainers {

  /**
   * Returns its name and version: {@code containerd 2.3.4}.
   *
   * @throws NodeApiException if it does not answer
   */
  String version() throws NodeApiException;

  /**
   * Returns the cgroup driver, {@code systemd} or {@code cgroupfs}; empty if the runtime does not
   * report it, as before containerd 2 and CRI-O 1.28.
   *
   * @throws NodeApiException if it does not answer
   */
  default Optional<String> cgroupDriver() throws NodeApiException {
    return Optional.empty();
  }

  /**
   * Returns the running container of that name in exactly that pod.
   *
   * @param podUid the pod's uid, which excludes another pod with the same name
   * @param container name of the container in the pod
   * @throws NodeApiException if the runtime does not answer
   */
  Located locate(String podUid, String container) throws NodeApiException;

  /**
   * Returns the container with that id, running or not; empty if there is none, or it belongs to no
   * pod.
   *
   * @throws NodeApiException if the runtime does not answer
   */
  Optional<PodContainer> byId(String containerId) throws NodeApiException;

  /** The result. */
  sealed interface Located {

    /**
     * The container runs.
     *
     * @param process its process, and the process section of its runtime spec
     */
    record Running(PodContainer container, ContainerProcess process) implements Located {}

    /**
     * The container does not run.
     *
     * @param why one sentence: expected and actual state
     */
    record NotRunning(String why) implements Located {}
  }
}
