package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.Proof;
import dev.stasis.api.v1alpha1.common.RestoreTimings;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Took;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/** How long each part of a restore took, from the times that others wrote down. */
final class Stopwatch {

  /** All parts that are known. */
  RestoreTimings timings(
      GpuRestore restore, Pod target, String container, OperationView operation) {
    RestoreTimings timings =
        Objects.requireNonNullElseGet(operation.status().getRestoreTimings(), RestoreTimings::new);
    Instant asked = Instant.parse(restore.getMetadata().getCreationTimestamp());
    Instant made = Instant.parse(target.getMetadata().getCreationTimestamp());
    timings.setWaitedMilliseconds(between(asked, made));
    Optional<Instant> scheduled =
        target.getStatus().getConditions().stream()
            .filter(it -> it.getType().equals("PodScheduled") && it.getStatus().equals("True"))
            .map(it -> Instant.parse(it.getLastTransitionTime()))
            .findFirst();
    Optional<Instant> held = held(target, container);
    scheduled.ifPresent(at -> timings.setScheduleMilliseconds(between(made, at)));
    held.ifPresent(at -> timings.setStartMilliseconds(between(scheduled.orElse(made), at)));
    Proof proof = operation.status().getProof();
    if (held.isPresent() && proof != null) {
      long took = between(held.get(), proof.time());
      timings.setTookMilliseconds(took);
      timings.setTook(new Took(Duration.ofMillis(took)).text());
    }
    return timings;
  }

  /** When the holder was started; empty: it was not. */
  Optional<Instant> held(Pod target, String container) {
    return target.getStatus().getContainerStatuses().stream()
        .filter(it -> container.equals(it.getName()))
        .map(ContainerStatus::getState)
        .filter(state -> state != null && state.getRunning() != null)
        .map(state -> Instant.parse(state.getRunning().getStartedAt()))
        .findFirst();
  }

  /** Clocks of two machines differ: never less than nothing. */
  private static long between(Instant from, Instant to) {
    return Math.max(0, Duration.between(from, to).toMillis());
  }
}
