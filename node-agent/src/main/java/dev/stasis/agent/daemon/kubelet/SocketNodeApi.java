package dev.stasis.agent.daemon.kubelet;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.process.ProcFs;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The real clients, each at its unix socket. */
public final class SocketNodeApi implements NodeApi {

  private final NodeSocket runtimeSocket;
  private final NodeSocket kubeletSocket;
  private final CriRuntime runtime;
  private final CriExec exec;
  private final KubeletPodResources kubelet;

  /**
   * Uses these sockets; the first call shows whether a server listens.
   *
   * @param runtime socket of the container runtime
   * @param kubelet socket of the kubelet's pod-resources API
   * @param ofNode the node's GPUs in the driver's order
   */
  public SocketNodeApi(
      Path runtime,
      Path kubelet,
      ProcFs proc,
      Supplier<List<Gpu>> ofNode,
      KubeletPodResources.ClaimedDevices claimed,
      GpuResources resources,
      LongSupplier nanoTime) {
    this.runtimeSocket = new NodeSocket(runtime);
    this.kubeletSocket = new NodeSocket(kubelet);
    this.runtime = new CriRuntime(runtimeSocket, proc);
    this.exec = new CriExec(runtimeSocket, nanoTime);
    this.kubelet = new KubeletPodResources(kubeletSocket, ofNode, claimed, resources);
  }

  @Override
  public PodContainers containers() {
    return runtime;
  }

  @Override
  public ContainerExec exec() {
    return exec;
  }

  @Override
  public PodGpus gpus() {
    return kubelet;
  }

  @Override
  public String runtime() throws NodeApiException {
    return runtime.version();
  }

  @Override
  public Optional<String> cgroupDriver() throws NodeApiException {
    return runtime.cgroupDriver();
  }

  @Override
  public Optional<PodContainer> byId(String containerId) throws NodeApiException {
    return runtime.byId(containerId);
  }

  @Override
  public void askKubelet() throws NodeApiException {
    kubelet.ask();
  }

  @Override
  public void close() {
    runtimeSocket.close();
    kubeletSocket.close();
  }
}
