package dev.stasis.operator.eviction;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Decides about the eviction of a pod. */
final class EvictionDecider {

  private static final Set<String> NOT_PROTECTED = Set.of("false", "disabled");

  private final EvictionConfig config;
  private final GpuPods gpus;

  EvictionDecider(EvictionConfig config, List<String> gpuResources) {
    this.config = config;
    this.gpus = new GpuPods(gpuResources);
  }

  /**
   * The observed state.
   *
   * @param pod the pod to be evicted
   * @param attempts the attempts so far, in order
   * @param freeze the operation of the last attempt
   * @param now the current time
   */
  record Observation(
      Pod pod, List<EvictionAttempt> attempts, Optional<OperationView> freeze, Instant now) {
    Observation {
      attempts = List.copyOf(attempts);
    }
  }

  EvictionDecision decide(Observation observed) {
    if (!isProtected(observed.pod())) {
      return new EvictionDecision.Ignore();
    }
    int made = observed.attempts().size();
    if (made == 0) {
      return first(observed);
    }
    EvictionAttempt last = observed.attempts().get(made - 1);
    boolean forgotten =
        last.isOver() && !observed.now().isBefore(last.requested().plus(config.givenUpAfter()));
    if (forgotten) {
      return new EvictionDecision.Begin(last.number() + 1, observed.now());
    }
    if (isHeld(observed) && isStored(observed, last) && !last.isCancelled()) {
      return new EvictionDecision.Allow(last);
    }
    Instant end = last.since().plus(EvictionAttempt.deadline(observed.pod(), config));
    if (!observed.now().isBefore(end)) {
      return new EvictionDecision.AllowUnsaved(
          last.name(),
          "pod %s was not checkpointed within %s: %s"
              .formatted(name(observed.pod()), seconds(last.since(), end), last.message()));
    }
    if (!last.isOver()) {
      return new EvictionDecision.Hold(
          last,
          "pod %s is being checkpointed by GpuCheckpoint %s (%s: %s); evicted anyway at %s"
              .formatted(name(observed.pod()), last.name(), last.phase(), last.message(), at(end)));
    }
    if (!observed.now().isBefore(last.entered().plus(config.againAfter()))) {
      return new EvictionDecision.Begin(last.number() + 1, last.since());
    }
    return new EvictionDecision.Hold(
        last,
        "pod %s could not be checkpointed by GpuCheckpoint %s: %s; retrying, evicted anyway at %s"
            .formatted(name(observed.pod()), last.name(), last.message(), at(end)));
  }

  /** Decides without an attempt. Deleting an attempt does not restart the deadline. */
  private EvictionDecision first(Observation observed) {
    Optional<Instant> since = EvictionAttempt.since(observed.pod());
    Instant end =
        since.orElse(observed.now()).plus(EvictionAttempt.deadline(observed.pod(), config));
    if (since.isEmpty() || !observed.now().isBefore(end.plus(config.givenUpAfter()))) {
      return new EvictionDecision.Begin(1, observed.now());
    }
    return observed.now().isBefore(end)
        ? new EvictionDecision.Begin(1, since.get())
        : new EvictionDecision.AllowUnsaved(
            EvictionAttempt.base(observed.pod()),
            "pod %s was not checkpointed within %s: its GpuCheckpoint was refused or deleted"
                .formatted(name(observed.pod()), seconds(since.get(), end)));
  }

  /** Returns whether a pod is protected: it opted in, runs, and has GPUs. */
  boolean isProtected(Pod pod) {
    String protect = Marks.labels(pod).get(Api.PROTECT_LABEL);
    return protect != null
        && !NOT_PROTECTED.contains(protect.toLowerCase(Locale.ROOT))
        && pod.getMetadata().getDeletionTimestamp() == null
        && new PodState(pod).isIn("Running")
        && gpus.has(pod);
  }

  private static boolean isHeld(Observation observed) {
    return observed
        .freeze()
        .filter(view -> view.phase() == OperationPhase.HELD && !view.isCancelled())
        .isPresent();
  }

  /** The agent reports what the store promises; the operator reports when that is reached. */
  private static boolean isStored(Observation observed, EvictionAttempt last) {
    boolean onItsNodeOnly =
        observed
            .freeze()
            .flatMap(OperationView::artifact)
            .filter(it -> !it.keepsPromise())
            .isPresent();
    GpuCheckpointStatus status = last.checkpoint().getStatus();
    ArtifactStatus artifact = status == null ? null : status.getArtifact();
    return !onItsNodeOnly || (artifact != null && artifact.keepsPromise());
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
