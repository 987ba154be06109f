package dev.stasis.operator.resize;

import dev.stasis.operator.pod.PodState;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads the kubelet's report on an in-place resize. */
public final class KubeletWord {

  /**
   * Returns whether the container has the resources of its spec, which is only the desired state.
   */
  public boolean hasIt(Pod pod, String container) {
    Optional<Quantity> shall =
        pod.getSpec().getContainers().stream()
            .filter(it -> container.equals(it.getName()))
            .findFirst()
            .flatMap(it -> memory(it.getResources()));
    Optional<Quantity> has =
        new PodState(pod).container(container).flatMap(it -> memory(it.getResources()));
    return has.isEmpty() || has.equals(shall);
  }

  /**
   * Returns what is being waited for: the kubelet reports on the pod that it cannot resize, or not
   * yet.
   */
  public String waiting(Pod pod) {
    List<PodCondition> conditions =
        pod.getStatus() == null ? List.of() : pod.getStatus().getConditions();
    return conditions.stream()
        .filter(condition -> condition.getType().startsWith("PodResize"))
        .filter(condition -> "True".equals(condition.getStatus()))
        .findFirst()
        .map(
            condition ->
                condition.getType()
                    + " "
                    + Objects.requireNonNullElse(condition.getReason(), "")
                    + ": "
                    + Objects.requireNonNullElse(condition.getMessage(), ""))
        .orElse("the kubelet was requested to raise the memory limit");
  }

  private static Optional<Quantity> memory(@Nullable ResourceRequirements resources) {
    return Optional.ofNullable(resources)
        .map(ResourceRequirements::getLimits)
        .map(limits -> limits.get("memory"));
  }
}
