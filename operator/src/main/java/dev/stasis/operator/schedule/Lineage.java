package dev.stasis.operator.schedule;

import dev.stasis.operator.pod.FormerPods;
import dev.stasis.operator.pod.PodState;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The pods in which the workload of a pod has run, and the part of each that belongs to it.
 *
 * @param latest by UID, the time of the last state that the workload has of the pod
 */
record Lineage(Map<String, Instant> latest) {

  Lineage {
    latest = Map.copyOf(latest);
  }

  static Lineage of(Pod pod) {
    Map<String, Instant> latest = new HashMap<>();
    for (FormerPods.FormerPod former : FormerPods.before(pod.getMetadata()).pods()) {
      // A migration ended it.
      Instant until =
          Objects.requireNonNullElseGet(former.until(), () -> new PodState(pod).since());
      latest.put(former.uid(), until);
    }
    latest.put(pod.getMetadata().getUid(), Instant.MAX);
    return new Lineage(latest);
  }

  Set<String> podUids() {
    return latest.keySet();
  }

  /**
   * Returns whether it is a checkpoint of this workload: of its pod, or of a pod from which that
   * pod was restored, up to the restored state. The source of a copy keeps running, and its later
   * checkpoints have the state of another workload, as has another pod of the same name.
   */
  boolean has(ScheduledCheckpoint checkpoint) {
    Instant until = latest.get(checkpoint.podUid());
    return until != null && !checkpoint.frozen().isAfter(until);
  }
}
