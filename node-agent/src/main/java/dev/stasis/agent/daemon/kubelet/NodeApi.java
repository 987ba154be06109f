package dev.stasis.agent.daemon.kubelet;

import java.util.Optional;

/** Everything that the agent asks of the container runtime and the kubelet of its node. */
public interface NodeApi extends AutoCloseable {

  PodContainers containers();

  ContainerExec exec();

  PodGpus gpus();

  /**
   * Name and version of the container runtime: {@code containerd 2.3.4}.
   *
   * @throws NodeApiException when it does not answer
   */
  String runtime() throws NodeApiException;

  /**
   * Who makes the control groups of containers, {@code systemd} or {@code cgroupfs}; empty when the
   * runtime does not say, as before containerd 2 and CRI-O 1.28.
   *
   * @throws NodeApiException when it does not answer
   */
  default Optional<String> cgroupDriver() throws NodeApiException {
    return Optional.empty();
  }

  /**
   * The container of that id, whether it runs or not; empty when the runtime has none such.
   *
   * @throws NodeApiException when the runtime does not answer
   */
  Optional<PodContainer> byId(String containerId) throws NodeApiException;

  /**
   * Asks the kubelet for its list of devices.
   *
   * @throws NodeApiException when it does not answer
   */
  void askKubelet() throws NodeApiException;

  @Override
  void close();
}
