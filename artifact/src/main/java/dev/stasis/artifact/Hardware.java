package dev.stasis.artifact;

import java.util.List;
import java.util.Objects;

/** The GPUs that a workload saw, in its order, and their connections. */
public record Hardware(List<Gpu> gpus, List<Link> links) {
  public Hardware {
    gpus = List.copyOf(gpus);
    links = List.copyOf(links);
  }

  /**
   * One GPU.
   *
   * @param order its index in the workload's numbering, from 0
   * @param uuid the UUID with the prefix {@code GPU-}, as in NVML
   * @param memoryBytes total memory
   * @param computeCapability for example {@code 9.0}
   */
  public record Gpu(
      int order,
      String uuid,
      String model,
      long memoryBytes,
      String pciBusId,
      String computeCapability) {
    public Gpu {
      Objects.requireNonNull(uuid, "uuid");
      Objects.requireNonNull(model, "model");
      Objects.requireNonNull(pciBusId, "pciBusId");
      Objects.requireNonNull(computeCapability, "computeCapability");
    }
  }

  /**
   * The connection of two GPUs, named by their order: {@code NVLINK}, {@code PIX}, {@code SYS}...
   */
  public record Link(int from, int to, String relation) {
    public Link {
      Objects.requireNonNull(relation, "relation");
    }
  }
}
