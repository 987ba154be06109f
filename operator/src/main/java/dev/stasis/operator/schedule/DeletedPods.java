package dev.stasis.operator.schedule;

import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.PodState;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * GPU pods that were deleted without a request of their user, in their last state. Only a watch
 * sees them, so pods that were deleted while no operator ran are unknown.
 */
final class DeletedPods {

  /** Longer than a reconciliation is ever delayed. */
  private static final Duration KEPT = Duration.ofMinutes(30);

  private record Deleted(Pod pod, Instant time) {}

  private final Map<String, Deleted> deleted = new ConcurrentHashMap<>();
  private final GpuPods gpus;
  private final Clock clock;

  DeletedPods(GpuPods gpus, Clock clock) {
    this.gpus = gpus;
    this.clock = clock;
  }

  void add(Pod pod) {
    PodState state = new PodState(pod);
    if (gpus.has(pod) && (state.disruption().isPresent() || state.isIn("Failed"))) {
      Instant now = clock.instant();
      deleted.values().removeIf(it -> it.time().plus(KEPT).isBefore(now));
      deleted.put(pod.getMetadata().getUid(), new Deleted(pod, now));
    }
  }

  List<Pod> in(String namespace) {
    Instant since = clock.instant().minus(KEPT);
    // The checkpoint of an eviction, which says that a pod was restored, is deleted after an hour.
    return deleted.values().stream()
        .filter(it -> !it.time().isBefore(since))
        .map(Deleted::pod)
        .filter(pod -> pod.getMetadata().getNamespace().equals(namespace))
        .toList();
  }
}
