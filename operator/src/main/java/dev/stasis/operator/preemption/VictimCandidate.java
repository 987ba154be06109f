package dev.stasis.operator.preemption;

import dev.stasis.operator.pod.PodState;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A pod that runs on a node.
 *
 * @param since start of its unsaved work: its start, its restore, or its newest checkpoint
 * @param started when it was started or restored
 * @param spared why no policy may preempt it; empty if a policy may
 * @param gang why it belongs to a gang; empty if it does not
 * @param timesThisHour how often it was a victim in the last hour
 * @param requests what the scheduler counts for it
 */
record VictimCandidate(
    Pod pod,
    Instant since,
    Instant started,
    Duration expectedFreeze,
    Optional<String> spared,
    Optional<String> gang,
    int timesThisHour,
    ResourceAmounts requests) {

  VictimCandidate(
      Pod pod,
      Instant since,
      Instant started,
      Duration expectedFreeze,
      Optional<String> spared,
      Optional<String> gang,
      int timesThisHour) {
    this(pod, since, started, expectedFreeze, spared, gang, timesThisHour, ResourceAmounts.of(pod));
  }

  /** A pod that no policy may preempt. */
  static VictimCandidate spared(Pod pod, Instant started, String why) {
    return new VictimCandidate(
        pod, started, started, Duration.ZERO, Optional.of(why), Optional.empty(), 0);
  }

  int priority() {
    return new PodState(pod).priority();
  }

  String name() {
    return new PodState(pod).name();
  }
}
