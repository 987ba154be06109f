package dev.stasis.operator.schedule;

import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
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
import org.jspecify.annotations.Nullable;

/**
 * Detects whether a pod failed. A deletion is a user's decision unless the pod's condition
 * DisruptionTarget says that the cluster removed it.
 */
final class PodFailureDetector {

  private final GpuPods gpus;

  PodFailureDetector(GpuPods gpus) {
    this.gpus = gpus;
  }

  /**
   * Returns the failure; empty if there is none, or a user ended the pod.
   *
   * @param now used as the time of the failure if that is unknown
   */
  Optional<PodFailure> detect(Pod pod, Instant now) {
    PodState state = new PodState(pod);
    if (pod.getStatus() == null || state.isWaitingTarget() || state.isIn("Succeeded")) {
      return Optional.empty();
    }
    Optional<PodCondition> disruption = state.disruption();
    if (disruption.isPresent()) {
      return disruption.map(condition -> disrupted(pod, condition, now));
    }
    if (state.isBeingDeleted()) {
      return Optional.empty();
    }
    return state.isIn("Failed") ? Optional.of(failed(pod, now)) : restarted(pod, now);
  }

  private static PodFailure disrupted(Pod pod, PodCondition disruption, Instant now) {
    Optional<Instant> time = time(disruption.getLastTransitionTime());
    return new PodFailure(
        pod,
        time.orElse(now),
        time.orElseGet(() -> new PodState(pod).since()),
        Reason.POD_DISRUPTED,
        "the cluster removed it: %s: %s"
            .formatted(disruption.getReason(), disruption.getMessage()));
  }

  private PodFailure failed(Pod pod, Instant now) {
    Optional<ContainerStateTerminated> end =
        statuses(pod)
            .flatMap(status -> terminated(status.getState()))
            .max(Comparator.comparing(one -> time(one.getFinishedAt()).orElse(Instant.EPOCH)));
    String why =
        Objects.requireNonNullElseGet(
            pod.getStatus().getReason(),
            () -> end.map(it -> "exit code " + it.getExitCode()).orElse("no reason given"));
    Optional<Instant> time = end.flatMap(it -> time(it.getFinishedAt()));
    return new PodFailure(
        pod,
        time.orElse(now),
        time.orElseGet(() -> new PodState(pod).since()),
        Reason.POD_FAILED,
        "its phase is Failed: " + why);
  }

  /** A container that exited with 0 and was restarted behaved as its pod's spec requires. */
  private Optional<PodFailure> restarted(Pod pod, Instant now) {
    return statuses(pod)
        .filter(status -> Objects.requireNonNullElse(status.getRestartCount(), 0) > 0)
        .flatMap(status -> restarted(pod, status, now).stream())
        .findFirst();
  }

  private static Optional<PodFailure> restarted(Pod pod, ContainerStatus status, Instant now) {
    Optional<Instant> startedAgain =
        Optional.ofNullable(status.getState())
            .map(ContainerState::getRunning)
            .map(ContainerStateRunning::getStartedAt)
            .map(Instant::parse);
    return Stream.concat(terminated(status.getState()), terminated(status.getLastState()))
        .findFirst()
        .filter(end -> !Integer.valueOf(0).equals(end.getExitCode()))
        .map(
            end ->
                new PodFailure(
                    pod,
                    time(end.getFinishedAt()).or(() -> startedAgain).orElse(now),
                    time(end.getFinishedAt()).orElseGet(() -> new PodState(pod).since()),
                    Reason.CONTAINER_RESTARTED,
                    "container %s exited with code %d and was restarted (%d restarts so far)"
                        .formatted(status.getName(), end.getExitCode(), status.getRestartCount())));
  }

  private Stream<ContainerStatus> statuses(Pod pod) {
    List<String> containers = gpus.containers(pod);
    return pod.getStatus().getContainerStatuses().stream()
        .filter(status -> containers.contains(status.getName()));
  }

  private static Stream<ContainerStateTerminated> terminated(@Nullable ContainerState state) {
    return state == null ? Stream.empty() : Stream.ofNullable(state.getTerminated());
  }

  /** Empty because a kubelet that was down itself reports that a container ended, but not when. */
  private static Optional<Instant> time(@Nullable String time) {
    return Optional.ofNullable(time).map(Instant::parse);
  }
}
