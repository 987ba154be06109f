package dev.stasis.local.kubelet;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodReadinessGate;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes a pod's status as a kubelet does. Conditions of other components are kept. */
final class PodStatuses {

  private static final List<String> OWN =
      List.of(
          "PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready");

  private final Clock clock;

  PodStatuses(Clock clock) {
    this.clock = clock;
  }

  /**
   * @param pod the pod in the API, with the conditions of other components
   * @param state the kubelet's state
   */
  PodStatus of(Pod pod, PodState state) {
    PodStatus before = Objects.requireNonNullElseGet(pod.getStatus(), PodStatus::new);
    List<ContainerStatus> inits = statuses(pod, pod.getSpec().getInitContainers(), state.inits());
    List<ContainerStatus> mains = statuses(pod, pod.getSpec().getContainers(), state.mains());
    String phase = phase(pod, state);
    PodStatusBuilder status =
        new PodStatusBuilder(before)
            .withPhase(phase)
            .withStartTime(text(state.since()))
            .withHostIP("127.0.0.1")
            .withQosClass(QosClass.of(pod).text())
            .withInitContainerStatuses(inits)
            .withContainerStatuses(mains)
            .withConditions(conditions(pod, before, state, mains, phase));
    state.failure().ifPresent(why -> status.withReason("Failed").withMessage(why));
    return status.build();
  }

  private static String phase(Pod pod, PodState state) {
    if (state.isOver(pod)) {
      boolean well =
          state.failure().isEmpty()
              && state.initialized()
              && state.mains().stream().allMatch(ContainerSlot::succeeded);
      return well ? "Succeeded" : "Failed";
    }
    boolean begun = state.mains().stream().anyMatch(slot -> slot.attempts() > 0);
    return begun ? "Running" : "Pending";
  }

  private List<PodCondition> conditions(
      Pod pod, PodStatus before, PodState state, List<ContainerStatus> mains, String phase) {
    List<PodCondition> conditions = new ArrayList<>();
    before.getConditions().stream()
        .filter(condition -> !OWN.contains(condition.getType()))
        .forEach(conditions::add);
    boolean over = phase.equals("Succeeded") || phase.equals("Failed");
    String end =
        phase.equals("Succeeded") ? "PodCompleted" : phase.equals("Failed") ? "PodFailed" : "";
    boolean containers = !over && mains.stream().allMatch(ContainerStatus::getReady);
    Optional<String> closed =
        pod.getSpec().getReadinessGates().stream()
            .map(PodReadinessGate::getConditionType)
            .filter(gate -> !isTrue(before, gate))
            .findFirst();
    String why = over ? end : "ContainersNotReady";
    conditions.add(condition(before, "PodReadyToStartContainers", state.prepared() && !over, ""));
    conditions.add(
        condition(before, "Initialized", state.initialized(), "ContainersNotInitialized"));
    conditions.add(condition(before, "ContainersReady", containers, why));
    conditions.add(
        condition(
            before,
            "Ready",
            containers && closed.isEmpty(),
            containers ? "ReadinessGatesNotReady" : why));
    conditions.add(condition(before, "PodScheduled", true, ""));
    return conditions;
  }

  private static boolean isTrue(PodStatus status, String type) {
    return status.getConditions().stream()
        .anyMatch(it -> it.getType().equals(type) && "True".equals(it.getStatus()));
  }

  private PodCondition condition(PodStatus before, String type, boolean holds, String otherwise) {
    String status = holds ? "True" : "False";
    String since =
        before.getConditions().stream()
            .filter(it -> it.getType().equals(type) && status.equals(it.getStatus()))
            .map(PodCondition::getLastTransitionTime)
            .filter(Objects::nonNull)
            .findFirst()
            .orElseGet(() -> text(clock.instant()));
    PodConditionBuilder condition =
        new PodConditionBuilder().withType(type).withStatus(status).withLastTransitionTime(since);
    if (!holds && !otherwise.isEmpty()) {
      condition.withReason(otherwise);
    }
    return condition.build();
  }

  private static List<ContainerStatus> statuses(
      Pod pod, List<Container> specs, List<ContainerSlot> slots) {
    List<ContainerStatus> statuses = new ArrayList<>();
    for (ContainerSlot slot : slots) {
      Container spec =
          specs.stream()
              .filter(it -> it.getName().equals(slot.name()))
              .findFirst()
              .orElseThrow(() -> new IllegalStateException("no container " + slot.name()));
      statuses.add(status(pod, spec, slot));
    }
    return statuses;
  }

  private static ContainerStatus status(Pod pod, Container spec, ContainerSlot slot) {
    Optional<ContainerSlot.Run> run = slot.run();
    Optional<String> id =
        run.map(it -> it.container().id()).or(() -> slot.last().map(ContainerSlot.Ended::id));
    ContainerStatusBuilder status =
        new ContainerStatusBuilder()
            .withName(slot.name())
            .withImage(spec.getImage())
            .withImageID(slot.plan().map(plan -> plan.image().id()).orElse(""))
            .withContainerID(id.map(it -> "runc://" + it).orElse(null))
            .withRestartCount(Math.max(0, slot.attempts() - 1))
            .withStarted(run.map(it -> it.probes().started()).orElse(false))
            .withReady(run.map(it -> it.probes().ready()).orElse(slot.succeeded()))
            .withResources(resources(spec, slot));
    if (run.isPresent()) {
      status.withState(
          new ContainerStateBuilder()
              .withNewRunning()
              .withStartedAt(text(run.get().since()))
              .endRunning()
              .build());
      slot.last().ifPresent(last -> status.withLastState(terminated(last)));
    } else if (slot.last().isPresent() && (slot.succeeded() || PodState.endedForGood(pod, slot))) {
      status.withState(terminated(slot.last().get()));
    } else {
      status.withState(
          new ContainerStateBuilder()
              .withNewWaiting()
              .withReason(slot.waiting().reason())
              .withMessage(emptyToNull(slot.waiting().message()))
              .endWaiting()
              .build());
      slot.last().ifPresent(last -> status.withLastState(terminated(last)));
    }
    return status.build();
  }

  /** The value set in the kernel, as after an in-place resize. */
  private static ResourceRequirements resources(Container spec, ContainerSlot slot) {
    ResourceRequirements asked =
        Objects.requireNonNullElseGet(spec.getResources(), ResourceRequirements::new);
    if (slot.memoryLimit() == ContainerLimits.of(spec).memoryBytes()) {
      return asked;
    }
    return new ResourceRequirementsBuilder(asked)
        .addToLimits(
            "memory", new io.fabric8.kubernetes.api.model.Quantity("" + slot.memoryLimit()))
        .build();
  }

  private static ContainerState terminated(ContainerSlot.Ended last) {
    return new ContainerStateBuilder()
        .withNewTerminated()
        .withContainerID("runc://" + last.id())
        .withExitCode(last.code())
        .withReason(last.code() == 0 ? "Completed" : "Error")
        .withStartedAt(text(last.since()))
        .withFinishedAt(text(last.until()))
        .endTerminated()
        .build();
  }

  private static String text(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private static @Nullable String emptyToNull(String text) {
    return text.isEmpty() ? null : text;
  }
}
