package dev.stasis.operator.pod;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** What the scheduler and the kubelet report about a pod. */
public record PodState(Pod pod) {

  /** Set on a pod that the cluster itself removes: by eviction, taints, scheduler or kubelet. */
  private static final String DISRUPTION = "DisruptionTarget";

  /** Returns namespace and name. */
  public String name() {
    return pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
  }

  public int priority() {
    return Objects.requireNonNullElse(pod.getSpec().getPriority(), 0);
  }

  /** Returns whether it has ended: it no longer uses resources of its node. */
  public boolean isOver() {
    return isIn("Succeeded") || isIn("Failed");
  }

  public boolean isIn(String phase) {
    return pod.getStatus() != null && phase.equals(pod.getStatus().getPhase());
  }

  public boolean isBeingDeleted() {
    return pod.getMetadata().getDeletionTimestamp() != null;
  }

  /** Returns whether the scheduler tried to place it and found no node. */
  public boolean isUnschedulable() {
    return pod.getSpec().getNodeName() == null
        && !isBeingDeleted()
        && !isOver()
        && condition("PodScheduled")
            .filter(condition -> "False".equals(condition.getStatus()))
            .filter(condition -> "Unschedulable".equals(condition.getReason()))
            .isPresent();
  }

  public boolean isGated() {
    return pod.getSpec().getSchedulingGates() != null
        && !pod.getSpec().getSchedulingGates().isEmpty();
  }

  /** Returns whether a workload is still to be restored into it. */
  public boolean isWaitingTarget() {
    return isTarget() && condition(Api.RESTORED_GATE).filter(PodState::isTrue).isEmpty();
  }

  /** Returns since when its workload runs: when it was restored or started. */
  public Instant since() {
    Optional<String> restored =
        isTarget()
            ? condition(Api.RESTORED_GATE).map(PodCondition::getLastTransitionTime)
            : Optional.empty();
    String started = pod.getStatus() == null ? null : pod.getStatus().getStartTime();
    String since =
        restored.orElse(started == null ? pod.getMetadata().getCreationTimestamp() : started);
    return since == null ? Instant.EPOCH : Instant.parse(since);
  }

  /** Returns the kubelet's report on a container; empty before the first one. */
  public Optional<ContainerStatus> container(String name) {
    return pod.getStatus() == null
        ? Optional.empty()
        : pod.getStatus().getContainerStatuses().stream()
            .filter(status -> name.equals(status.getName()))
            .findFirst();
  }

  /**
   * Returns when the workload of a container started. A restore or a migration continues an earlier
   * start; a container that restarts begins again.
   */
  public Optional<Instant> workloadStart(String container) {
    Optional<ContainerStatus> status = container(container);
    Optional<Instant> started =
        status
            .map(ContainerStatus::getState)
            .map(ContainerState::getRunning)
            .map(ContainerStateRunning::getStartedAt)
            .map(Instant::parse);
    return status
        .filter(it -> Objects.requireNonNullElse(it.getRestartCount(), 0) == 0)
        .flatMap(it -> startInFormerPod())
        .filter(before -> started.filter(before::isAfter).isEmpty())
        .or(() -> started);
  }

  /** Empty also if a user has changed it to something else, which no status may contain. */
  private Optional<Instant> startInFormerPod() {
    try {
      return Marks.annotation(pod, Api.WORKLOAD_START_ANNOTATION)
          .map(Instant::parse)
          .filter(Instant.EPOCH::isBefore);
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }

  /** Returns why the cluster removes it; empty if it does not. */
  public Optional<PodCondition> disruption() {
    return condition(DISRUPTION).filter(PodState::isTrue);
  }

  /** Returns whether Stasis has frozen its workload, and has not thawed it since. */
  public boolean isFrozen() {
    return frozen().isPresent();
  }

  /** Returns the condition of a pod whose workload is frozen; empty for another one. */
  public Optional<PodCondition> frozen() {
    return condition(Api.FROZEN_POD_CONDITION).filter(PodState::isTrue);
  }

  /** Returns whether a workload is, or was, restored into it; a cold start is no target. */
  public boolean isTarget() {
    return pod.getSpec().getReadinessGates().stream()
        .anyMatch(gate -> gate.getConditionType().equals(Api.RESTORED_GATE));
  }

  private static boolean isTrue(PodCondition condition) {
    return "True".equals(condition.getStatus());
  }

  /** Returns whether the kubelet reports that it serves requests. */
  public boolean isReady() {
    return condition("Ready").filter(PodState::isTrue).isPresent();
  }

  /** Returns the condition of that type, with any status; empty if there is none. */
  public Optional<PodCondition> condition(String type) {
    return pod.getStatus() == null
        ? Optional.empty()
        : Objects.requireNonNullElse(pod.getStatus().getConditions(), List.<PodCondition>of())
            .stream()
            .filter(condition -> type.equals(condition.getType()))
            .findFirst();
  }
}
