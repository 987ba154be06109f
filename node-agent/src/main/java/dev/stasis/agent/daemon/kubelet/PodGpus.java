package dev.stasis.agent.daemon.kubelet;

import dev.stasis.agent.cuda.GpuUuid;
import java.util.List;
import java.util.Set;

/** Finds the GPUs that the kubelet allocated to a container. */
public interface PodGpus {

  /**
   * Returns the devices of this container; empty if the kubelet does not know it.
   *
   * @throws NodeApiException if the kubelet, or for a claim the API server, does not answer
   */
  Allocation of(String namespace, String pod, String container) throws NodeApiException;

  /**
   * Devices of a container.
   *
   * @param gpus each GPU once, in the node's order, which is also their order inside the container
   * @param resources names of the resources and drivers that provided them: {@code nvidia.com/gpu}
   * @param claims ResourceClaims among them
   * @param strangers names that were allocated as GPUs but are not GPUs of this node
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
