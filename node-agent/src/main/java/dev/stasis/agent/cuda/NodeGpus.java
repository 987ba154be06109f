package dev.stasis.agent.cuda;

import java.util.List;
import java.util.Optional;

/**
 * The GPUs of this node.
 *
 * @param availability availability of libcuda; of NVML if libcuda is present and NVML is not
 * @param driverVersion version of the kernel module and its libraries, for example 580.159.04;
 *     empty without a driver. A checkpoint is restored only on a node with the same version
 * @param cudaVersion the highest CUDA version that the driver supports, for example 13000; 0
 *     without a driver
 * @param gpus in NVML's order, which is the order of PCI addresses
 * @param links one entry per pair
 */
public record NodeGpus(
    DriverAvailability availability,
    String driverVersion,
    int cudaVersion,
    List<Gpu> gpus,
    List<GpuLink> links) {

  public NodeGpus {
    gpus = List.copyOf(gpus);
    links = List.copyOf(links);
  }

  /** A node that cannot be queried. */
  public static NodeGpus none(DriverAvailability why) {
    return new NodeGpus(why, "", 0, List.of(), List.of());
  }

  public Optional<Gpu> find(GpuUuid uuid) {
    return gpus.stream().filter(gpu -> gpu.uuid().equals(uuid)).findFirst();
  }
}
