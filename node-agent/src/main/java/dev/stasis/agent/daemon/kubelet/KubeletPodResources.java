package dev.stasis.agent.daemon.kubelet;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuUuid;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
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
  private final GpuResources resources;

  /**
   * Uses the kubelet at that socket.
   *
   * @param socket where it listens
   * @param ofNode the node's GPUs in the driver's order
   * @param claimed resolves devices of claims
   * @param resources the resources that represent GPUs
   */
  public KubeletPodResources(
      NodeSocket socket,
      Supplier<List<Gpu>> ofNode,
      ClaimedDevices claimed,
      GpuResources resources) {
    this.socket = socket;
    this.ofNode = ofNode;
    this.claimed = claimed;
    this.resources = resources;
  }

  @Override
  public Allocation of(String namespace, String pod, String container) throws NodeApiException {
    Optional<ContainerResources> found = find(namespace, pod, container);
    if (found.isEmpty()) {
      return new Allocation(List.of(), Set.of(), List.of(), List.of());
    }
    Collected collected = new Collected(ofNode.get());
    for (ContainerDevices devices : found.get().getDevicesList()) {
      for (String id : devices.getDeviceIdsList()) {
        collected.add(devices.getResourceName(), id, resources.isGpu(devices.getResourceName()));
      }
    }
    for (DynamicResource dynamic : found.get().getDynamicResourcesList()) {
      Claim claim = new Claim(dynamic.getClaimNamespace(), dynamic.getClaimName());
      for (ClaimResource device : dynamic.getClaimResourcesList()) {
        String driver = device.getDriverName();
        Optional<String> uuid = claimed.uuid(driver, device.getPoolName(), device.getDeviceName());
        if (collected.add(
            driver, uuid.orElse(device.getDeviceName()), resources.isGpuDriver(driver))) {
          collected.claims.add(claim);
        }
      }
    }
    return collected.allocation();
  }

  /**
   * Requests the list of devices and ignores its content.
   *
   * @throws NodeApiException if the kubelet does not answer
   */
  public ListPodResourcesResponse ask() throws NodeApiException {
    return socket.ask(
        "List",
        () ->
            PodResourcesListerGrpc.newBlockingStub(socket.channel())
                .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
                .list(ListPodResourcesRequest.getDefaultInstance()));
  }

  private Optional<ContainerResources> find(String namespace, String pod, String container)
      throws NodeApiException {
    return ask().getPodResourcesList().stream()
        .filter(one -> one.getNamespace().equals(namespace) && one.getName().equals(pod))
        .flatMap(one -> one.getContainersList().stream())
        .filter(one -> one.getName().equals(container))
        .findFirst();
  }

  /** Separates device names into GPUs of the node and unknown ones. */
  private static final class Collected {
    private final List<Gpu> ofNode;
    private final Set<GpuUuid> gpus = new TreeSet<>();
    private final Set<String> names = new TreeSet<>();
    private final Set<Claim> claims = new LinkedHashSet<>();
    private final List<String> strangers = new ArrayList<>();

    Collected(List<Gpu> ofNode) {
      this.ofNode = ofNode;
    }

    /** Returns whether it is a GPU, or was allocated as one. */
    boolean add(String resource, String id, boolean givenAsGpu) {
      // Names of one GPU with time slicing: UUID::0, UUID::1, ...
      String uuid = id.replaceFirst("::[0-9]+$", "");
      Optional<GpuUuid> known =
          ofNode.stream()
              .map(Gpu::uuid)
              .filter(one -> one.text().equalsIgnoreCase(uuid))
              .findFirst();
      if (known.isPresent()) {
        gpus.add(known.get());
      } else if (givenAsGpu) {
        strangers.add(id);
      } else {
        return false;
      }
      names.add(resource);
      return true;
    }

    Allocation allocation() {
      List<GpuUuid> inOrder = ofNode.stream().map(Gpu::uuid).filter(gpus::contains).toList();
      return new Allocation(inOrder, names, List.copyOf(claims), strangers);
    }
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
