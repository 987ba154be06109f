package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads from a pod whether it failed. A deletion is its user's wish, unless the cluster says that
 * it was its own: who deleted a pod stands nowhere else.
 */
final class Failures {

  /** Set on a pod by whoever in the cluster removes it: eviction, taints, scheduler, kubelet. */
  private static final String DISRUPTION = "DisruptionTarget";

  private static final String EVICTION = "EvictionByEvictionAPI";

  private final GpuPods gpus;

  Failures(GpuPods gpus) {
    this.gpus = gpus;
  }

  /**
   * What became of it; empty: nothing is wrong, or its user wanted it so.
   *
   * @param now when nothing says when it was
   */
  Optional<Failure> of(Pod pod, Instant now) {
    if (isWaitingTarget(pod) || pod.getStatus() == null) {
      return Optional.empty();
    }
    if ("Succeeded".equals(pod.getStatus().getPhase())) {
      return Optional.empty();
    }
    Optional<PodCondition> disruption = disruption(pod);
    if (disruption.isPresent()) {
      return isProtected(pod, disruption.get())
          ? Optional.empty()
          : Optional.of(disrupted(pod, disruption.get(), now));
    }
    if (pod.getMetadata().getDeletionTimestamp() != null) {
      return Optional.empty();
    }
    return "Failed".equals(pod.getStatus().getPhase())
        ? Optional.of(failed(pod, now))
        : restarted(pod, now);
  }

  private static Failure disrupted(Pod pod, PodCondition disruption, Instant now) {
    Instant time =
        disruption.getLastTransitionTime() == null
            ? now
            : Instant.parse(disruption.getLastTransitionTime());
    return new Failure(
        pod,
        time,
        Reason.POD_DISRUPTED,
        "the cluster removed it: %s: %s"
            .formatted(disruption.getReason(), disruption.getMessage()));
  }

  private Failure failed(Pod pod, Instant now) {
    Optional<ContainerStateTerminated> end =
        statuses(pod)
            .flatMap(status -> terminated(status.getState()))
            .max(Comparator.comparing(one -> finished(one).orElse(Instant.EPOCH)));
    String why =
        Objects.requireNonNullElseGet(
            pod.getStatus().getReason(),
            () -> end.map(it -> "exit code " + it.getExitCode()).orElse("no reason given"));
    return new Failure(
        pod,
        end.flatMap(Failures::finished).orElse(now),
        Reason.POD_FAILED,
        "its phase is Failed: " + why);
  }

  /** A container that ended well and was started again did what its pod says. */
  private Optional<Failure> restarted(Pod pod, Instant now) {
    return statuses(pod)
        .filter(status -> Objects.requireNonNullElse(status.getRestartCount(), 0) > 0)
        .flatMap(
            status ->
                Stream.concat(terminated(status.getState()), terminated(status.getLastState()))
                    .limit(1)
                    .filter(end -> !Integer.valueOf(0).equals(end.getExitCode()))
                    .map(
                        end ->
                            new Failure(
                                pod,
                                finished(end).or(() -> startedAnew(status)).orElse(now),
                                Reason.CONTAINER_RESTARTED,
                                "container %s ended with exit code %d and was started anew, %d times so far"
                                    .formatted(
                                        status.getName(),
                                        end.getExitCode(),
                                        status.getRestartCount()))))
        .findFirst();
  }

  private Stream<ContainerStatus> statuses(Pod pod) {
    List<String> containers = gpus.containers(pod);
    return pod.getStatus().getContainerStatuses().stream()
        .filter(status -> containers.contains(status.getName()));
  }

  private static Stream<ContainerStateTerminated> terminated(
      @org.jspecify.annotations.Nullable ContainerState state) {
    return state == null || state.getTerminated() == null
        ? Stream.empty()
        : Stream.of(state.getTerminated());
  }

  /** A kubelet that was away itself says that a container ended, and not when. */
  private static Optional<Instant> finished(ContainerStateTerminated end) {
    return Optional.ofNullable(end.getFinishedAt()).map(Instant::parse);
  }

  private static Optional<Instant> startedAnew(ContainerStatus status) {
    return Optional.ofNullable(status.getState())
        .map(ContainerState::getRunning)
        .map(running -> running.getStartedAt())
        .map(Instant::parse);
  }

  /** Its GpuRestore knows what becomes of it. */
  static boolean isWaitingTarget(Pod pod) {
    boolean target =
        pod.getSpec().getReadinessGates().stream()
            .anyMatch(gate -> gate.getConditionType().equals(Api.RESTORED_GATE));
    return target
        && (pod.getStatus() == null
            || pod.getStatus().getConditions().stream()
                .noneMatch(
                    condition ->
                        condition.getType().equals(Api.RESTORED_GATE)
                            && condition.getStatus().equals("True")));
  }

  static Optional<PodCondition> disruption(Pod pod) {
    return pod.getStatus().getConditions().stream()
        .filter(condition -> condition.getType().equals(DISRUPTION))
        .filter(condition -> "True".equals(condition.getStatus()))
        .findFirst();
  }

  /** Whoever holds its eviction until it is checkpointed brings it back too. */
  private static boolean isProtected(Pod pod, PodCondition disruption) {
    return EVICTION.equals(disruption.getReason())
        && pod.getMetadata().getLabels() != null
        && pod.getMetadata().getLabels().containsKey(Api.PROTECT_LABEL);
  }
}
