package dev.stasis.operator.room;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The QoS class of a pod, as the API server derives it; a resize must not change it. */
enum QosClass {
  GUARANTEED,
  BURSTABLE,
  BEST_EFFORT;

  private static final List<String> COUNTED = List.of("cpu", "memory");

  static QosClass of(Pod pod) {
    List<Container> all =
        Stream.concat(
                pod.getSpec().getInitContainers().stream(), pod.getSpec().getContainers().stream())
            .toList();
    if (all.stream().allMatch(QosClass::asksForNothing)) {
      return BEST_EFFORT;
    }
    return all.stream().allMatch(QosClass::isGuaranteed) ? GUARANTEED : BURSTABLE;
  }

  private static boolean asksForNothing(Container container) {
    return COUNTED.stream()
        .allMatch(
            name ->
                amount(container.getResources(), name, true) == null
                    && amount(container.getResources(), name, false) == null);
  }

  private static boolean isGuaranteed(Container container) {
    return COUNTED.stream()
        .allMatch(
            name -> {
              Quantity limit = amount(container.getResources(), name, true);
              Quantity request = amount(container.getResources(), name, false);
              return limit != null && Objects.requireNonNullElse(request, limit).equals(limit);
            });
  }

  private static @Nullable Quantity amount(
      @Nullable ResourceRequirements resources, String name, boolean limit) {
    if (resources == null) {
      return null;
    }
    Map<String, Quantity> all = limit ? resources.getLimits() : resources.getRequests();
    return all == null ? null : all.get(name);
  }
}
