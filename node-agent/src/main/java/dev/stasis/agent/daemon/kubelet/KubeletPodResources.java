package dev.stasis.agent.daemon.kubelet;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuUuid;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import k8s.podresources.v1.ClaimResource;
import k8s.podresources.v1.ContainerDevices;
import k8s.podresources.v1.ContainerResources;
import k8s.podresources.v1.DynamicResource;
import k8s.podresources.v1.ListPodResourcesRequest;
import k8s.podresources.v1.ListPodResourcesResponse;
import k8s.podresources.v1.PodResourcesListerGrpc;

/** Reads the GPUs of containers from the kubelet's pod-resources API. */
public final class KubeletPodResources implements PodGpus {

  /** The kubelet answers from memory, and allows ten calls per second. */
  private static final long ANSWER_SECONDS = 5;

  private final NodeSocket socket;
  private final Supplier<List<Gpu>> ofNode;
  private final ClaimedDevices claimed;

  /**
   * Uses the kubelet at that socket.
   *
   * @param socket where it listens
   * @param ofNode the node's GPUs in the driver's order
   * @param claimed resolves devices of claims
   */
  public KubeletPodResources(
      NodeSocket socket, Supplier<List<Gpu>> ofNode, ClaimedDevices claimed) {
    this.socket = socket;
    this.ofNode = ofNode;
    this.claimed = claimed;
  }

  /** Counts every GPU of the node, from device plugins and DRA drivers alike. */
  @Override
  public List<GpuUuid> of(String namespace, String pod, String container) throws NodeApiException {
    Optional<ContainerResources> found = find(namespace, pod, container);
    if (found.isEmpty()) {
      return List.of();
    }
    Set<String> ids = new HashSet<>();
    for (ContainerDevices devices : found.get().getDevicesList()) {
      ids.addAll(devices.getDeviceIdsList());
    }
    for (DynamicResource dynamic : found.get().getDynamicResourcesList()) {
      for (ClaimResource device : dynamic.getClaimResourcesList()) {
        ids.add(
            claimed
                .uuid(device.getDriverName(), device.getPoolName(), device.getDeviceName())
                .orElse(device.getDeviceName()));
      }
    }
    Set<String> uuids =
        ids.stream()
            // Names of one GPU with time slicing: UUID::0, UUID::1, ...
            .map(id -> id.replaceFirst("::[0-9]+$", "").toLowerCase(Locale.ROOT))
            .collect(Collectors.toSet());
    return ofNode.get().stream()
        .map(Gpu::uuid)
        .filter(uuid -> uuids.contains(uuid.text().toLowerCase(Locale.ROOT)))
        .toList();
  }

  @Override
  public void require() throws NodeApiException {
    var unused = list();
  }

  private ListPodResourcesResponse list() throws NodeApiException {
    return socket.ask(
        "List",
        () ->
            PodResourcesListerGrpc.newBlockingStub(socket.channel())
                .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
                .list(ListPodResourcesRequest.getDefaultInstance()));
  }

  private Optional<ContainerResources> find(String namespace, String pod, String container)
      throws NodeApiException {
    return list().getPodResourcesList().stream()
        .filter(one -> one.getNamespace().equals(namespace) && one.getName().equals(pod))
        .flatMap(one -> one.getContainersList().stream())
        .filter(one -> one.getName().equals(container))
        .findFirst();
  }

  /** Finds the hardware behind a device of dynamic resource allocation. */
  @FunctionalInterface
  public interface ClaimedDevices {

    /**
     * Returns the UUID that the driver published for a device; empty if it published none.
     *
     * @throws NodeApiException if the API server cannot be queried
     */
    Optional<String> uuid(String driver, String pool, String device) throws NodeApiException;
  }
}
