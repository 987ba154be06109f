package dev.stasis.agent.daemon.kubelet;

import java.util.Optional;

/** The agent's requests to the container runtime and the kubelet of its node. */
public interface NodeApi extends AutoCloseable {

  PodContainers containers();

  ContainerExec exec();

  PodGpus gpus();

  /**
   * Returns name and version of the container runtime: {@code containerd 2.3.4}.
   *
   * @throws NodeApiException if it does not answer
   */
  String runtime() throws NodeApiException;

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
   * Returns the container with that id, running or not; empty if the runtime has none.
   *
   * @throws NodeApiException if the runtime does not answer
   */
  Optional<PodContainer> byId(String containerId) throws NodeApiException;

  /**
   * Requests the kubelet's list of devices.
   *
   * @throws NodeApiException if it does not answer
   */
  void askKubelet() throws NodeApiException;

  @Override
  void close();
}
