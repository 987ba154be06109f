package dev.stasis.compat;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * GPUs in the order of their PCI bus ids, which is also their order inside a container: those of a
 * container, or all of a node.
 *
 * @param driver version of the driver
 * @param gpus the GPUs
 * @param links their connections
 */
public record GpuSet(String driver, List<Gpu> gpus, Links links) {
  public GpuSet {
    gpus = List.copyOf(gpus);
  }

  /** Returns the properties of a container that has all of these GPUs. */
  public Fingerprint fingerprint() {
    if (gpus.isEmpty()) {
      throw new IllegalArgumentException("gpu.count: expected at least 1, got 0");
    }
    return fingerprint(gpus, links);
  }

  /**
   * Returns the properties that every selection of {@code n} of these GPUs has, whichever the
   * kubelet chooses. Empty if there are fewer, if selections differ in more than memory and links,
   * or if one is partitioned. For memory and links it is the minimum of all selections.
   */
  public Optional<Fingerprint> everyChoiceOf(int n) {
    if (n < 1 || n > gpus.size() || gpus.stream().anyMatch(Gpu::mig)) {
      return Optional.empty();
    }
    // A selection keeps the order, so its i-th GPU is one of those from i to i + spare.
    int spare = gpus.size() - n;
    List<List<Gpu>> candidates =
        IntStream.range(0, n).mapToObj(i -> gpus.subList(i, i + spare + 1)).toList();
    if (!candidates.stream().allMatch(GpuSet::alike)) {
      return Optional.empty();
    }
    List<Gpu> least = candidates.stream().map(GpuSet::withLeastMemory).toList();
    return Optional.of(fingerprint(least, Links.of(n, (i, j) -> weakest(i, j, spare))));
  }

  private Link weakest(int i, int j, int spare) {
    return IntStream.rangeClosed(i, i + spare)
        .boxed()
        .flatMap(
            a -> IntStream.rangeClosed(a + j - i, j + spare).mapToObj(b -> links.between(a, b)))
        .min(Link::compareTo)
        .orElseThrow();
  }

  private static boolean alike(List<Gpu> candidates) {
    return candidates.stream().map(gpu -> gpu.model() + gpu.computeCapability()).distinct().count()
        == 1;
  }

  private static Gpu withLeastMemory(List<Gpu> candidates) {
    Gpu any = candidates.get(0);
    long least = candidates.stream().mapToLong(Gpu::memoryMiB).min().orElseThrow();
    return new Gpu(any.model(), least, any.computeCapability(), any.mig());
  }

  private Fingerprint fingerprint(List<Gpu> of, Links linked) {
    return Fingerprint.empty()
        .with(Property.GPU_COUNT, String.valueOf(of.size()))
        .with(Property.GPU_DRIVER, driver)
        .with(Property.GPU_INTERCONNECT, linked.text())
        .with(Property.GPU_MODEL, each(of, Gpu::model))
        .with(Property.GPU_MEMORY, each(of, gpu -> String.valueOf(gpu.memoryMiB())))
        .with(Property.GPU_COMPUTE_CAPABILITY, each(of, Gpu::computeCapability))
        .with(Property.GPU_MIG, each(of, Gpu::migText));
  }

  private static String each(List<Gpu> gpus, Function<Gpu, String> value) {
    return gpus.stream().map(value).collect(Collectors.joining(" | "));
  }
}
