package dev.stasis.operator.restore;

import dev.stasis.api.text.HumanDuration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.common.RestoreTimings;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodState;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Determines the duration of each part of a restore from recorded times. */
final class RestoreTimingsReader {

  /** Returns all known durations. */
  RestoreTimings timings(
      GpuRestore restore, Pod target, String container, OperationView operation) {
    RestoreTimings reported = operation.status().getRestoreTimings();
    // A copy: other reconciliations read the same operation from the cache.
    RestoreTimings timings = reported == null ? new RestoreTimings() : reported.copy();
    Instant asked = Instant.parse(restore.getMetadata().getCreationTimestamp());
    Instant made = Instant.parse(target.getMetadata().getCreationTimestamp());
    timings.setWaitedMilliseconds(between(asked, made));
    Optional<Instant> scheduled =
        new PodState(target)
            .condition("PodScheduled")
            .filter(it -> it.getStatus().equals("True"))
            .map(it -> Instant.parse(it.getLastTransitionTime()));
    Optional<Instant> held = held(target, container);
    scheduled.ifPresent(at -> timings.setScheduleMilliseconds(between(made, at)));
    held.ifPresent(at -> timings.setStartMilliseconds(between(scheduled.orElse(made), at)));
    Proof proof = operation.status().getProof();
    if (held.isPresent() && proof != null) {
      // The pod tells its start in whole seconds, the agent exactly; those of earlier builds do
      // not.
      Long exact = timings.getTookMilliseconds();
      long took = exact != null ? exact : between(held.get(), proof.time());
      timings.setTookMilliseconds(took);
      timings.setTook(new HumanDuration(Duration.ofMillis(took)).text());
    }
    return timings;
  }

  /** Returns when the holder was started; empty if it was not. */
  Optional<Instant> held(Pod target, String container) {
    return new PodState(target)
        .container(container)
        .map(ContainerStatus::getState)
        .map(ContainerState::getRunning)
        .map(running -> Instant.parse(running.getStartedAt()));
  }

  /** The clocks of two machines differ: the result is never negative. */
  private static long between(Instant from, Instant to) {
    return Math.max(0, Duration.between(from, to).toMillis());
  }
}
