package dev.stasis.operator.eviction;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.operator.operation.OperationView;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Decides about an eviction from what is seen. */
final class Decider {

  private static final Set<String> NOT_PROTECTED = Set.of("false", "disabled");

  private final EvictionConfig config;
  private final Set<String> gpuResources;

  Decider(EvictionConfig config, Collection<String> gpuResources) {
    this.config = config;
    this.gpuResources = Set.copyOf(gpuResources);
  }

  /**
   * What is seen.
   *
   * @param pod the pod that is to be evicted
   * @param attempts those that were made so far, in order
   * @param freeze the order of the last one to its agent
   * @param now the time
   */
  record Sight(Pod pod, List<Attempt> attempts, Optional<OperationView> freeze, Instant now) {
    Sight {
      attempts = List.copyOf(attempts);
    }
  }

  Answer answer(Sight sight) {
    if (!isProtected(sight.pod())) {
      return new Answer.Pass();
    }
    int made = sight.attempts().size();
    if (made == 0) {
      return first(sight);
    }
    Attempt last = sight.attempts().get(made - 1);
    boolean forgotten =
        last.isOver() && !sight.now().isBefore(last.requested().plus(config.givenUpAfter()));
    if (forgotten) {
      return new Answer.Begin(last.number() + 1, sight.now());
    }
    if (isHeld(sight) && !last.isCancelled()) {
      return new Answer.LetGo(last);
    }
    Instant end = last.since().plus(Attempt.deadline(sight.pod(), config));
    if (!sight.now().isBefore(end)) {
      return new Answer.GiveWay(
          last.name(),
          "pod %s was not saved within %s: %s"
              .formatted(name(sight.pod()), seconds(last.since(), end), last.message()));
    }
    if (!last.isOver()) {
      return new Answer.Hold(
          last,
          "pod %s is being saved by GpuCheckpoint %s (%s: %s); evicted anyway at %s"
              .formatted(name(sight.pod()), last.name(), last.phase(), last.message(), at(end)));
    }
    if (!sight.now().isBefore(last.entered().plus(config.againAfter()))) {
      return new Answer.Begin(last.number() + 1, last.since());
    }
    return new Answer.Hold(
        last,
        "pod %s could not be saved by GpuCheckpoint %s: %s; tried again, evicted anyway at %s"
            .formatted(name(sight.pod()), last.name(), last.message(), at(end)));
  }

  /** Without an attempt. One that its user has deleted does not start the deadline again. */
  private Answer first(Sight sight) {
    Optional<Instant> since = Attempt.since(sight.pod());
    Instant end = since.orElse(sight.now()).plus(Attempt.deadline(sight.pod(), config));
    if (since.isEmpty() || !sight.now().isBefore(end.plus(config.givenUpAfter()))) {
      return new Answer.Begin(1, sight.now());
    }
    return sight.now().isBefore(end)
        ? new Answer.Begin(1, since.get())
        : new Answer.GiveWay(
            Attempt.base(sight.pod()),
            "pod %s was not saved within %s: its GpuCheckpoint was deleted"
                .formatted(name(sight.pod()), seconds(since.get(), end)));
  }

  /** Whether it is saved at all: it opted in, runs, and has GPUs. */
  boolean isProtected(Pod pod) {
    Map<String, String> labels =
        Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.of());
    String wanted = labels.get(Api.PROTECT_LABEL);
    return wanted != null
        && !NOT_PROTECTED.contains(wanted.toLowerCase(Locale.ROOT))
        && pod.getMetadata().getDeletionTimestamp() == null
        && pod.getStatus() != null
        && "Running".equals(pod.getStatus().getPhase())
        && pod.getSpec().getContainers().stream().anyMatch(this::hasGpu);
  }

  private boolean hasGpu(Container container) {
    return container.getResources() != null
        && (!container.getResources().getClaims().isEmpty()
            || Objects.requireNonNullElse(container.getResources().getLimits(), Map.of())
                .keySet()
                .stream()
                .anyMatch(gpuResources::contains));
  }

  private static boolean isHeld(Sight sight) {
    return sight
        .freeze()
        .filter(view -> view.phase() == OperationPhase.HELD && !view.isCancelled())
        .isPresent();
  }

  private static String seconds(Instant from, Instant until) {
    return Duration.between(from, until).toSeconds() + "s";
  }

  private static String at(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private static String name(Pod pod) {
    return pod.getMetadata().getName();
  }
}
