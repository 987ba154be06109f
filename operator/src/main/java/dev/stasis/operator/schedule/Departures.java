package dev.stasis.operator.schedule;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Pods that have gone without their user's wish, as they last were. Only a watch sees them, so
 * those that went while no operator ran are not known.
 */
final class Departures {

  /** Longer than a reconciliation is ever put off. */
  private static final Duration KEPT = Duration.ofMinutes(30);

  private record Gone(Pod pod, Instant time) {}

  private final Map<String, Gone> gone = new ConcurrentHashMap<>();
  private final Clock clock;

  Departures(Clock clock) {
    this.clock = clock;
  }

  /** A pod is gone. */
  void note(Pod pod) {
    if (pod.getStatus() == null) {
      return;
    }
    Instant now = clock.instant();
    gone.values().removeIf(it -> it.time().plus(KEPT).isBefore(now));
    if (Failures.disruption(pod).isPresent() || "Failed".equals(pod.getStatus().getPhase())) {
      gone.put(pod.getMetadata().getUid(), new Gone(pod, now));
    }
  }

  List<Pod> of(String namespace) {
    return gone.values().stream()
        .map(Gone::pod)
        .filter(pod -> pod.getMetadata().getNamespace().equals(namespace))
        .toList();
  }
}
