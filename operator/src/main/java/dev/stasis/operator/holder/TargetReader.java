package dev.stasis.operator.holder;

import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the progress of a target, before the verification. */
public final class TargetReader {

  /** The image is not on this node and must not be pulled: another node may have it. */
  private static final String NEVER_PULLED = "ErrImageNeverPull";

  private static final Set<String> NO_IMAGE =
      Set.of(
          "ErrImagePull",
          "ImagePullBackOff",
          "InvalidImageName",
          "ImageInspectError",
          "RegistryUnavailable",
          "SignatureValidationFailed");

  /** The kubelet reports these during a normal start. */
  private static final Set<String> AS_USUAL = Set.of("PodInitializing", "ContainerCreating");

  /** Reads the progress. */
  public TargetState read(Pod pod, String container) {
    String name = "pod " + pod.getMetadata().getName();
    if (pod.getMetadata().getDeletionTimestamp() != null) {
      return broken(
          Reason.TARGET_LOST,
          name,
          "a pod that exists until the verification",
          "a pod that is being deleted");
    }
    PodStatus status = Objects.requireNonNullElseGet(pod.getStatus(), PodStatus::new);
    Optional<ContainerStatus> workload = new PodState(pod).container(container);
    Optional<TargetState> ended = workload.flatMap(it -> ended(name, it));
    if (ended.isPresent()) {
      return ended.get();
    }
    if (Set.of("Failed", "Succeeded").contains(Objects.requireNonNullElse(status.getPhase(), ""))) {
      return broken(
          Reason.TARGET_LOST,
          name,
          "a running pod until the verification",
          Objects.requireNonNullElse(status.getReason(), status.getPhase())
              + said(": ", status.getMessage()));
    }
    Optional<Instant> running =
        workload
            .map(ContainerStatus::getState)
            .map(ContainerState::getRunning)
            .map(state -> Instant.parse(state.getStartedAt()));
    if (running.isPresent()) {
      return new TargetState.Holding(running.get());
    }
    return coming(name, pod, status, workload);
  }

  /** Returns whether the workload ended with exit code 0, and was not started again. */
  public boolean isCompleted(Pod pod, String container) {
    return new PodState(pod)
        .container(container)
        .filter(it -> Objects.requireNonNullElse(it.getRestartCount(), 0) == 0)
        .map(ContainerStatus::getState)
        .map(ContainerState::getTerminated)
        .filter(end -> Integer.valueOf(0).equals(end.getExitCode()))
        .isPresent();
  }

  private static Optional<TargetState> ended(String name, ContainerStatus workload) {
    ContainerStateTerminated last =
        Optional.ofNullable(workload.getState())
            .map(ContainerState::getTerminated)
            .or(
                () ->
                    Optional.ofNullable(workload.getLastState()).map(ContainerState::getTerminated))
            .orElse(null);
    if (last == null && Objects.requireNonNullElse(workload.getRestartCount(), 0) == 0) {
      return Optional.empty();
    }
    String found =
        last == null
            ? "a restarted one"
            : "one that exited with code " + last.getExitCode() + said(", ", last.getReason());
    return Optional.of(
        broken(
            Reason.RESTORE_FAILED,
            name + " container " + workload.getName(),
            "a holder that waits until the verification",
            found));
  }

  private static TargetState coming(
      String name, Pod pod, PodStatus status, Optional<ContainerStatus> workload) {
    for (ContainerStatus init : status.getInitContainerStatuses()) {
      Optional<TargetState> held = waiting(name, init);
      if (held.isPresent()) {
        return held.get();
      }
      ContainerStateTerminated end =
          init.getState() == null ? null : init.getState().getTerminated();
      if (end != null && !Integer.valueOf(0).equals(end.getExitCode())) {
        return new TargetState.Coming(
            Reason.STARTING,
            name
                + " init container "
                + init.getName()
                + ": ended with exit code "
                + end.getExitCode()
                + said(": ", end.getMessage()));
      }
    }
    Optional<TargetState> held = workload.flatMap(it -> waiting(name, it));
    if (held.isPresent()) {
      return held.get();
    }
    if (pod.getSpec().getNodeName() != null) {
      return new TargetState.Coming(
          Reason.STARTING, name + " is being started on node " + pod.getSpec().getNodeName());
    }
    String scheduler =
        new PodState(pod)
            .condition("PodScheduled")
            .filter(it -> it.getStatus().equals("False"))
            .map(PodCondition::getMessage)
            .orElse("not processed by the scheduler yet");
    return new TargetState.Coming(
        Reason.UNSCHEDULED, name + " is waiting for a node: " + scheduler);
  }

  private static Optional<TargetState> waiting(String name, ContainerStatus container) {
    ContainerStateWaiting waiting =
        container.getState() == null ? null : container.getState().getWaiting();
    if (waiting == null || waiting.getReason() == null) {
      return Optional.empty();
    }
    String reason = waiting.getReason();
    if (AS_USUAL.contains(reason)) {
      return Optional.empty();
    }
    String where = name + " container " + container.getName();
    String why = reason + said(": ", waiting.getMessage());
    if (reason.equals(NEVER_PULLED)) {
      return Optional.of(
          broken(Reason.IMAGE_NOT_AVAILABLE, where, "an image that is present on the node", why));
    }
    return Optional.of(
        new TargetState.Coming(
            NO_IMAGE.contains(reason) ? Reason.IMAGE_NOT_AVAILABLE : Reason.STARTING,
            where + ": " + why));
  }

  private static TargetState broken(Reason reason, String property, String wanted, String found) {
    return new TargetState.Broken(reason.misfit(property, wanted, found));
  }

  private static String said(String before, @Nullable String words) {
    return words == null || words.isBlank() ? "" : before + words;
  }
}
