package dev.stasis.operator.room;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.LimitRangeItem;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The restrictions of a namespace. Quotas with a scope are ignored: the API server's dry run shows
 * whether they apply to the pod.
 */
record Namespace(List<ResourceQuota> quotas, List<LimitRange> ranges) {

  /** Quotas name memory requests in two ways. */
  private static final List<String> REQUESTS = List.of("requests.memory", "memory");

  private static final List<String> LIMITS = List.of("limits.memory");

  List<Fault> requestRises(long bytes) {
    return rises(REQUESTS, bytes);
  }

  List<Fault> limitRises(long bytes) {
    return rises(LIMITS, bytes);
  }

  private List<Fault> rises(List<String> names, long bytes) {
    List<Fault> faults = new ArrayList<>();
    for (ResourceQuota quota : quotas) {
      if (quota.getStatus() == null || hasScope(quota)) {
        continue;
      }
      for (String name : names) {
        Optional<Long> hard = Bytes.of(quota.getStatus().getHard(), name);
        long used = Bytes.of(quota.getStatus().getUsed(), name).orElse(0L);
        if (hard.isPresent() && hard.get() - used < bytes) {
          faults.add(
              Reason.NO_ROOM.misfit(
                  "ResourceQuota " + quota.getMetadata().getName() + " " + name,
                  Bytes.text(bytes) + " more",
                  Bytes.text(Math.max(0, hard.get() - used)) + " left"));
        }
      }
    }
    return faults;
  }

  private static boolean hasScope(ResourceQuota quota) {
    return quota.getSpec() != null
        && (!quota.getSpec().getScopes().isEmpty() || quota.getSpec().getScopeSelector() != null);
  }

  /** Returns which rule of a LimitRange this memory of a container violates. */
  List<Fault> ranges(Pod pod, String container, long request, long limit) {
    List<Fault> faults = new ArrayList<>();
    for (LimitRange range : ranges) {
      for (LimitRangeItem item : range.getSpec().getLimits()) {
        String name = "LimitRange " + range.getMetadata().getName() + " " + item.getType() + " ";
        long asked = "Pod".equals(item.getType()) ? podLimit(pod, container, limit) : limit;
        if ("Pod".equals(item.getType()) || "Container".equals(item.getType())) {
          Bytes.of(item.getMax(), "memory")
              .filter(max -> max < asked)
              .ifPresent(
                  max ->
                      faults.add(
                          Reason.NO_ROOM.misfit(
                              name + "max.memory",
                              "at least " + Bytes.text(asked),
                              Bytes.text(max))));
        }
        if ("Container".equals(item.getType())) {
          ratio(item.getMaxLimitRequestRatio(), name, request, limit).ifPresent(faults::add);
        }
      }
    }
    return faults;
  }

  private static Optional<Fault> ratio(
      Map<String, Quantity> ratios, String name, long request, long limit) {
    if (ratios == null || !ratios.containsKey("memory") || request == 0) {
      return Optional.empty();
    }
    BigDecimal most = ratios.get("memory").getNumericalAmount();
    if (BigDecimal.valueOf(limit).compareTo(most.multiply(BigDecimal.valueOf(request))) <= 0) {
      return Optional.empty();
    }
    return Optional.of(
        Reason.NO_ROOM.misfit(
            name + "maxLimitRequestRatio.memory",
            Bytes.text(limit) + " to " + Bytes.text(request),
            most.toPlainString()));
  }

  private static long podLimit(Pod pod, String container, long limit) {
    return limit
        + pod.getSpec().getContainers().stream()
            .filter(other -> !other.getName().equals(container) && other.getResources() != null)
            .mapToLong(other -> Bytes.of(other.getResources().getLimits(), "memory").orElse(0L))
            .sum();
  }
}
