package dev.stasis.agent.daemon.kubelet;

import dev.stasis.agent.cuda.GpuUuid;
import java.util.List;

/** Finds the GPUs that the kubelet allocated to a container. */
@FunctionalInterface
public interface PodGpus {

  /**
   * Returns each GPU of this container once, in the node's order, which is also their order inside
   * the container; empty if the kubelet does not know the container.
   *
   * @throws NodeApiException if the kubelet, or for a claim the API server, does not answer
   */
  List<GpuUuid> of(String namespace, String pod, String container) throws NodeApiException;

  /**
   * Requires an answer of the kubelet.
   *
   * @throws NodeApiException if it does not answer
   */
  default void require() throws NodeApiException {}
}
