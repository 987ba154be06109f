package dev.stasis.agent.daemon.kubelet;

import dev.stasis.agent.cuda.GpuUuid;
import java.util.List;
import java.util.Set;

/** Tells which GPUs the kubelet gave to a container. */
public interface PodGpus {

  /**
   * What this container was given; nothing at all when the kubelet knows no such container.
   *
   * @throws NodeApiException when the kubelet, or for a claim the API server, does not answer
   */
  Allocation of(String namespace, String pod, String container) throws NodeApiException;

  /**
   * Devices of a container.
   *
   * @param gpus each GPU once, in the order in which the node has them, which is the order in which
   *     a container sees them
   * @param resources names of the resources and drivers through which they came: {@code
   *     nvidia.com/gpu}
   * @param claims claims of dynamic resource allocation that are among them
   * @param strangers names that were given as GPUs and are no GPU of this node
   */
  record Allocation(
      List<GpuUuid> gpus, Set<String> resources, List<Claim> claims, List<String> strangers) {
    public Allocation {
      gpus = List.copyOf(gpus);
      resources = Set.copyOf(resources);
      claims = List.copyOf(claims);
      strangers = List.copyOf(strangers);
    }
  }

  /** A ResourceClaim of the pod's namespace. */
  record Claim(String namespace, String name) {}
}
