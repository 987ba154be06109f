package dev.stasis.agent.cuda;

import java.util.List;
import java.util.Optional;

/**
 * The GPUs of this node.
 *
 * @param availability of libcuda; of NVML where libcuda is there and NVML is not
 * @param driverVersion of the kernel module and its libraries, for example 580.159.04; empty
 *     without a driver. Checkpoints go only to a node with the same one
 * @param cudaVersion the highest CUDA that the driver takes, for example 13000; 0 without a driver
 * @param gpus in the order of NVML, which is the order of PCI addresses
 * @param links one for each pair
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

  /** A node that cannot be asked. */
  public static NodeGpus none(DriverAvailability why) {
    return new NodeGpus(why, "", 0, List.of(), List.of());
  }

  public Optional<Gpu> find(GpuUuid uuid) {
    return gpus.stream().filter(gpu -> gpu.uuid().equals(uuid)).findFirst();
  }
}
