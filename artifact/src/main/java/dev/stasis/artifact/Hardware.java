package dev.stasis.artifact;

import java.util.List;
import java.util.Objects;

/** The GPUs that a workload saw, in the order in which it saw them, and how they are joined. */
public record Hardware(List<Gpu> gpus, List<Link> links) {
  public Hardware {
    gpus = List.copyOf(gpus);
    links = List.copyOf(links);
  }

  /**
   * One GPU.
   *
   * @param order its place in the workload's own numbering, from 0
   * @param uuid with the {@code GPU-} in front, as NVML gives it
   * @param memoryBytes its whole memory
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

  /** How two GPUs, named by their order, are joined: {@code NVLINK}, {@code PIX}, {@code SYS}... */
  public record Link(int from, int to, String relation) {
    public Link {
      Objects.requireNonNull(relation, "relation");
    }
  }
}
