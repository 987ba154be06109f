package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.Api;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the scheduler and the kubelet say of a pod.
 *
 * @param pod as it is
 */
record PodState(Pod pod) {

  String name() {
    return pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
  }

  int priority() {
    Integer priority = pod.getSpec().getPriority();
    return priority == null ? 0 : priority;
  }

  /** Whether it counts on its node no more. */
  boolean isOver() {
    String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
    return "Succeeded".equals(phase) || "Failed".equals(phase);
  }

  /** Why the scheduler has found no node for it; empty: it has, or has not looked. */
  Optional<String> unschedulable() {
    if (pod.getSpec().getNodeName() != null
        || pod.getMetadata().getDeletionTimestamp() != null
        || isOver()) {
      return Optional.empty();
    }
    return condition("PodScheduled")
        .filter(condition -> "False".equals(condition.getStatus()))
        .filter(condition -> "Unschedulable".equals(condition.getReason()))
        .map(condition -> String.valueOf(condition.getMessage()));
  }

  /** Whether something keeps it from the scheduler. */
  boolean isGated() {
    return pod.getSpec().getSchedulingGates() != null
        && !pod.getSpec().getSchedulingGates().isEmpty();
  }

  /** Whether it waits for its workload to be restored into it. */
  boolean isWaitingTarget() {
    return isTarget()
        && condition(Api.RESTORED_GATE)
            .filter(condition -> "True".equals(condition.getStatus()))
            .isEmpty();
  }

  /** Since when its workload runs there. */
  Instant since() {
    Optional<String> restored =
        isTarget()
            ? condition(Api.RESTORED_GATE).map(PodCondition::getLastTransitionTime)
            : Optional.empty();
    String started = pod.getStatus() == null ? null : pod.getStatus().getStartTime();
    String since =
        restored.orElse(started == null ? pod.getMetadata().getCreationTimestamp() : started);
    return since == null ? Instant.EPOCH : Instant.parse(since);
  }

  private boolean isTarget() {
    return pod.getSpec().getReadinessGates().stream()
        .anyMatch(gate -> gate.getConditionType().equals(Api.RESTORED_GATE));
  }

  private Optional<PodCondition> condition(String type) {
    return pod.getStatus() == null
        ? Optional.empty()
        : Optional.ofNullable(pod.getStatus().getConditions()).orElse(List.of()).stream()
            .filter(condition -> type.equals(condition.getType()))
            .findFirst();
  }
}
