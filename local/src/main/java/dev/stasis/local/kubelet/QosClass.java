package dev.stasis.local.kubelet;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** The QoS class of a pod. */
enum QosClass {
  GUARANTEED("Guaranteed"),
  BURSTABLE("Burstable"),
  BEST_EFFORT("BestEffort");

  private static final List<String> COUNTED = List.of("cpu", "memory");

  private final String text;

  QosClass(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }

  static QosClass of(Pod pod) {
    List<ResourceRequirements> all =
        Stream.concat(
                pod.getSpec().getInitContainers().stream(), pod.getSpec().getContainers().stream())
            .map(Container::getResources)
            .map(it -> Objects.requireNonNullElseGet(it, ResourceRequirements::new))
            .toList();
    if (all.stream().allMatch(it -> isEmpty(it.getRequests()) && isEmpty(it.getLimits()))) {
      return BEST_EFFORT;
    }
    return all.stream().allMatch(QosClass::isGuaranteed) ? GUARANTEED : BURSTABLE;
  }

  private static boolean isEmpty(Map<String, Quantity> resources) {
    return resources == null || COUNTED.stream().noneMatch(resources::containsKey);
  }

  private static boolean isGuaranteed(ResourceRequirements resources) {
    Map<String, Quantity> limits = Objects.requireNonNullElse(resources.getLimits(), Map.of());
    Map<String, Quantity> requests = Objects.requireNonNullElse(resources.getRequests(), Map.of());
    return COUNTED.stream()
        .allMatch(
            name ->
                limits.containsKey(name)
                    && Objects.equals(
                        limits.get(name), requests.getOrDefault(name, limits.get(name))));
  }
}
