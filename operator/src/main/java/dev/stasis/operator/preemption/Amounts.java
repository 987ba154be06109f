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
 * @param of by the name of the resource; what is not there is zero
 */
record Amounts(SortedMap<String, BigDecimal> of) {

  static final String PODS = "pods";

  Amounts {
    of = Collections.unmodifiableSortedMap(new TreeMap<>(of));
  }

  static Amounts none() {
    return new Amounts(new TreeMap<>());
  }

  static Amounts of(@Nullable Map<String, Quantity> quantities) {
    SortedMap<String, BigDecimal> amounts = new TreeMap<>();
    if (quantities != null) {
      quantities.forEach((name, quantity) -> amounts.put(name, quantity.getNumericalAmount()));
    }
    return new Amounts(amounts);
  }

  /** What the scheduler counts for a pod, the pod itself among it. */
  static Amounts of(Pod pod) {
    PodSpec spec = pod.getSpec();
    Amounts running = none();
    Amounts before = none();
    for (Container container : spec.getContainers()) {
      running = running.plus(requests(container));
    }
    for (Container container :
        Objects.requireNonNullElse(spec.getInitContainers(), java.util.List.<Container>of())) {
      if ("Always".equals(container.getRestartPolicy())) {
        running = running.plus(requests(container));
        before = before.plus(requests(container));
      } else {
        running = running.atLeast(before.plus(requests(container)));
      }
    }
    SortedMap<String, BigDecimal> one = new TreeMap<>(Map.of(PODS, BigDecimal.ONE));
    return running.plus(of(spec.getOverhead())).plus(new Amounts(one));
  }

  private static Amounts requests(Container container) {
    if (container.getResources() == null) {
      return none();
    }
    // A limit alone is the request too; the API server has written that into the pod already.
    return of(container.getResources().getRequests());
  }

  BigDecimal get(String resource) {
    return of.getOrDefault(resource, BigDecimal.ZERO);
  }

  Amounts plus(Amounts other) {
    SortedMap<String, BigDecimal> sum = new TreeMap<>(of);
    other.of.forEach((name, amount) -> sum.merge(name, amount, BigDecimal::add));
    return new Amounts(sum);
  }

  Amounts minus(Amounts other) {
    SortedMap<String, BigDecimal> rest = new TreeMap<>(of);
    other.of.forEach((name, amount) -> rest.merge(name, amount.negate(), BigDecimal::add));
    return new Amounts(rest);
  }

  Amounts atLeast(Amounts other) {
    SortedMap<String, BigDecimal> most = new TreeMap<>(of);
    other.of.forEach((name, amount) -> most.merge(name, amount, BigDecimal::max));
    return new Amounts(most);
  }

  /** Of what is wanted here, what {@code free} has not, in words; empty: all of it is there. */
  SortedMap<String, String> missingFrom(Amounts free) {
    SortedMap<String, String> missing = new TreeMap<>();
    of.forEach(
        (name, wanted) -> {
          if (wanted.signum() > 0 && wanted.compareTo(free.get(name)) > 0) {
            missing.put(
                name,
                "%s: wanted %s, free %s"
                    .formatted(name, plain(wanted), plain(free.get(name).max(BigDecimal.ZERO))));
          }
        });
    return missing;
  }

  private static String plain(BigDecimal amount) {
    return amount.signum() == 0 ? "0" : amount.stripTrailingZeros().toPlainString();
  }
}
