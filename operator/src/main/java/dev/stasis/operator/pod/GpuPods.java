package dev.stasis.operator.pod;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Identifies pods that request GPUs.
 *
 * @param resources names of the resources that count as GPUs
 */
public record GpuPods(List<String> resources) {
  public GpuPods {
    resources = List.copyOf(resources);
  }

  /** Returns whether it requests a GPU; the agent determines the devices of a claim. */
  public boolean has(Pod pod) {
    return pod.getSpec().getContainers().stream().anyMatch(this::has);
  }

  /** Returns the names of the containers that request one. */
  public List<String> containers(Pod pod) {
    return pod.getSpec().getContainers().stream()
        .filter(this::has)
        .map(Container::getName)
        .toList();
  }

  /** Returns whether a node with these resources has any GPU. */
  public boolean isIn(@Nullable Map<String, Quantity> allocatable) {
    return sum(allocatable) > 0;
  }

  /** Returns the number of requested GPUs; a claim counts as one. */
  public long count(Pod pod) {
    return pod.getSpec().getContainers().stream().mapToLong(this::count).sum();
  }

  private boolean has(Container container) {
    return count(container) > 0;
  }

  private long count(Container container) {
    ResourceRequirements asked = container.getResources();
    if (asked == null) {
      return 0;
    }
    return Math.max(sum(asked.getLimits()), sum(asked.getRequests())) + asked.getClaims().size();
  }

  private long sum(@Nullable Map<String, Quantity> amounts) {
    return amounts == null
        ? 0
        : resources.stream()
            .flatMap(name -> Stream.ofNullable(amounts.get(name)))
            .map(Quantity::getNumericalAmount)
            .filter(Objects::nonNull)
            .mapToLong(BigDecimal::longValue)
            .sum();
  }
}
