package dev.stasis.agent.daemon.kubelet;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.process.ProcFs;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

/**
 * The container runtime and the kubelet of this node.
 *
 * @param end closes the connections to them
 */
public record NodeApi(PodContainers containers, ContainerExec exec, PodGpus gpus, Runnable end)
    implements AutoCloseable {

  /**
   * Uses these sockets; the first call shows whether a server listens.
   *
   * @param runtime socket of the container runtime
   * @param kubelet socket of the kubelet's pod-resources API
   * @param ofNode the node's GPUs in the driver's order
   */
  public static NodeApi at(
      Path runtime,
      Path kubelet,
      Supplier<List<Gpu>> ofNode,
      KubeletPodResources.ClaimedDevices claimed) {
    NodeSocket runtimeSocket = new NodeSocket(runtime);
    NodeSocket kubeletSocket = new NodeSocket(kubelet);
    return new NodeApi(
        new CriRuntime(runtimeSocket, new ProcFs()),
        new CriExec(runtimeSocket, System::nanoTime),
        new KubeletPodResources(kubeletSocket, ofNode, claimed),
        () -> {
          runtimeSocket.close();
          kubeletSocket.close();
        });
  }

  @Override
  public void close() {
    end.run();
  }
}
