package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.Api;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodReadinessGate;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Trims pods in the cache. Pods with a GPU or with a key of Stasis are kept whole. Of all others
 * only the fields that reconcilers read are kept, since they would be most of the heap.
 *
 * @param gpuResources resources that count as GPUs
 */
record PodTransform(Set<String> gpuResources) implements UnaryOperator<Pod> {
  PodTransform {
    gpuResources = Set.copyOf(gpuResources);
  }

  @Override
  public Pod apply(Pod pod) {
    return pod instanceof TrimmedPod || isOfConcern(pod) ? pod : new TrimmedPod(pod);
  }

  private boolean isOfConcern(Pod pod) {
    return hasGpu(pod.getSpec()) || names(pod).anyMatch(PodTransform::isOurs);
  }

  /**
   * Broader than the checks of reconcilers: a pod that they treat as one with a GPU is complete.
   */
  private boolean hasGpu(PodSpec spec) {
    return !none(spec.getResourceClaims()).isEmpty()
        || Stream.concat(
                none(spec.getContainers()).stream(), none(spec.getInitContainers()).stream())
            .anyMatch(this::hasGpu);
  }

  private boolean hasGpu(Container container) {
    ResourceRequirements asked = container.getResources();
    return asked != null
        && (!none(asked.getClaims()).isEmpty()
            || Stream.concat(keys(asked.getLimits()), keys(asked.getRequests()))
                .anyMatch(gpuResources::contains));
  }

  /** Keys by which users, webhooks and Stasis mark pods. */
  private static Stream<String> names(Pod pod) {
    Stream<String> conditions =
        pod.getStatus() == null
            ? Stream.empty()
            : none(pod.getStatus().getConditions()).stream().map(PodCondition::getType);
    return Stream.of(
            keys(pod.getMetadata().getLabels()),
            keys(pod.getMetadata().getAnnotations()),
            none(pod.getMetadata().getFinalizers()).stream(),
            none(pod.getSpec().getSchedulingGates()).stream().map(PodSchedulingGate::getName),
            none(pod.getSpec().getReadinessGates()).stream()
                .map(PodReadinessGate::getConditionType),
            conditions)
        .flatMap(each -> each);
  }

  private static boolean isOurs(String name) {
    return name.startsWith(Api.GROUP + "/") || name.contains("." + Api.GROUP + "/");
  }

  static Stream<String> keys(@Nullable Map<String, ?> map) {
    return map == null ? Stream.empty() : map.keySet().stream();
  }

  private static <T> Collection<T> none(@Nullable Collection<T> some) {
    return some == null ? Set.of() : some;
  }
}
