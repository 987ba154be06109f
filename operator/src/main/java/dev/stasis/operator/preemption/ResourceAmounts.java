package dev.stasis.operator.preemption;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Amounts of resources: cores, bytes, devices, pods.
 *
 * @param of amounts by the name of the resource; a missing one is zero
 */
record ResourceAmounts(SortedMap<String, BigDecimal> of) {

  static final String PODS = "pods";

  ResourceAmounts {
    // Not copied: every caller created the map for this, and a decision adds up tens of thousands
    // of them.
    of = Collections.unmodifiableSortedMap(of);
  }

  static ResourceAmounts none() {
    return new ResourceAmounts(new TreeMap<>());
  }

  static ResourceAmounts of(@Nullable Map<String, Quantity> quantities) {
    SortedMap<String, BigDecimal> amounts = new TreeMap<>();
    if (quantities != null) {
      quantities.forEach((name, quantity) -> amounts.put(name, quantity.getNumericalAmount()));
    }
    return new ResourceAmounts(amounts);
  }

  /**
   * Returns what the scheduler counts for a pod, including one of the resource "pods": containers
   * and sidecars together, or the init container that needs most beside the sidecars before it.
   */
  static ResourceAmounts of(Pod pod) {
    PodSpec spec = pod.getSpec();
    ResourceAmounts together = none();
    ResourceAmounts largest = none();
    for (Container init :
        Objects.requireNonNullElse(spec.getInitContainers(), java.util.List.<Container>of())) {
      if ("Always".equals(init.getRestartPolicy())) {
        together = together.plus(requests(init));
      } else {
        largest = largest.atLeast(together.plus(requests(init)));
      }
    }
    for (Container container : spec.getContainers()) {
      together = together.plus(requests(container));
    }
    SortedMap<String, BigDecimal> one = new TreeMap<>(Map.of(PODS, BigDecimal.ONE));
    return together.atLeast(largest).plus(of(spec.getOverhead())).plus(new ResourceAmounts(one));
  }

  private static ResourceAmounts requests(Container container) {
    if (container.getResources() == null) {
      return none();
    }
    // A limit without a request is the request too; the API server has already added that to the
    // pod.
    return of(container.getResources().getRequests());
  }

  BigDecimal get(String resource) {
    return of.getOrDefault(resource, BigDecimal.ZERO);
  }

  ResourceAmounts plus(ResourceAmounts other) {
    if (other.of.isEmpty()) {
      return this;
    }
    SortedMap<String, BigDecimal> sum = new TreeMap<>(of);
    other.of.forEach((name, amount) -> sum.merge(name, amount, BigDecimal::add));
    return new ResourceAmounts(sum);
  }

  ResourceAmounts minus(ResourceAmounts other) {
    if (other.of.isEmpty()) {
      return this;
    }
    SortedMap<String, BigDecimal> rest = new TreeMap<>(of);
    other.of.forEach((name, amount) -> rest.merge(name, amount.negate(), BigDecimal::add));
    return new ResourceAmounts(rest);
  }

  ResourceAmounts atLeast(ResourceAmounts other) {
    SortedMap<String, BigDecimal> most = new TreeMap<>(of);
    other.of.forEach((name, amount) -> most.merge(name, amount, BigDecimal::max));
    return new ResourceAmounts(most);
  }

  /** Returns whether {@code free} has at least these amounts. */
  boolean fits(ResourceAmounts free) {
    return of.entrySet().stream()
        .allMatch(
            it ->
                it.getValue().signum() <= 0 || it.getValue().compareTo(free.get(it.getKey())) <= 0);
  }

  /** Returns a description of what {@code free} lacks, by resource; empty if nothing. */
  SortedMap<String, String> missingFrom(ResourceAmounts free) {
    SortedMap<String, String> missing = new TreeMap<>();
    of.forEach(
        (name, requested) -> {
          if (requested.signum() > 0 && requested.compareTo(free.get(name)) > 0) {
            missing.put(
                name,
                name
                    + ": requested "
                    + plain(requested)
                    + ", free "
                    + plain(free.get(name).max(BigDecimal.ZERO)));
          }
        });
    return missing;
  }

  private static String plain(BigDecimal amount) {
    return amount.signum() == 0 ? "0" : amount.stripTrailingZeros().toPlainString();
  }
}
