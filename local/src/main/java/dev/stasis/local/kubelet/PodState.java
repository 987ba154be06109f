package dev.stasis.local.kubelet;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The kubelet's state of a running pod. */
final class PodState {

  private final List<ContainerSlot> inits;
  private final List<ContainerSlot> mains;
  private final Instant since;
  private boolean prepared;
  private @Nullable String failure;

  PodState(Pod pod, Instant since) {
    this.inits = slots(pod.getSpec().getInitContainers());
    this.mains = slots(pod.getSpec().getContainers());
    this.since = since;
  }

  private static List<ContainerSlot> slots(List<Container> containers) {
    return containers.stream().map(ContainerSlot::new).toList();
  }

  List<ContainerSlot> inits() {
    return inits;
  }

  List<ContainerSlot> mains() {
    return mains;
  }

  List<ContainerSlot> all() {
    return Stream.concat(inits.stream(), mains.stream()).toList();
  }

  Instant since() {
    return since;
  }

  boolean prepared() {
    return prepared;
  }

  void nowPrepared() {
    prepared = true;
  }

  /** Why the pod as a whole has failed. */
  Optional<String> failure() {
    return Optional.ofNullable(failure);
  }

  void fails(String why) {
    failure = why;
  }

  boolean initialized() {
    return inits.stream().allMatch(ContainerSlot::succeeded);
  }

  /** Whether no container will ever run in it again. */
  boolean isOver(Pod pod) {
    if (failure != null) {
      return true;
    }
    if (!initialized()) {
      return inits.stream().anyMatch(slot -> endedForGood(pod, slot) && !slot.succeeded());
    }
    return mains.stream().allMatch(slot -> endedForGood(pod, slot));
  }

  static boolean endedForGood(Pod pod, ContainerSlot slot) {
    if (slot.run().isPresent() || slot.last().isEmpty()) {
      return false;
    }
    return switch (policy(pod)) {
      case "Never" -> true;
      case "OnFailure" -> slot.succeeded();
      default -> false;
    };
  }

  static String policy(Pod pod) {
    String policy = pod.getSpec().getRestartPolicy();
    return policy == null ? "Always" : policy;
  }
}
