package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.GpuCheckpointSchedule;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.api.v1alpha1.schedule.AutomaticRestore;
import dev.stasis.api.v1alpha1.schedule.GpuCheckpointScheduleSpec;
import dev.stasis.api.v1alpha1.schedule.GpuCheckpointScheduleStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * All that is seen in one look at one schedule.
 *
 * @param schedule the object, with a status
 * @param pods with GPUs that its selector matches, by name; targets that wait are none of them
 * @param departed pods that it matched and that are gone, as they last were
 * @param taken GpuCheckpoints that it made, by the time at which they were due
 * @param restores that it made, or that need one of those
 * @param unreachable why a node's disk cannot be read now, by name of the node
 * @param now when it was looked
 */
record View(
    GpuCheckpointSchedule schedule,
    List<Pod> pods,
    List<Pod> departed,
    List<Taken> taken,
    List<GpuRestore> restores,
    Map<String, String> unreachable,
    Instant now) {

  View {
    pods = List.copyOf(pods);
    departed = List.copyOf(departed);
    taken = List.copyOf(taken);
    restores = List.copyOf(restores);
    unreachable = Map.copyOf(unreachable);
  }

  GpuCheckpointScheduleSpec spec() {
    return schedule.getSpec();
  }

  GpuCheckpointScheduleStatus status() {
    return schedule.getStatus();
  }

  String uid() {
    return schedule.getMetadata().getUid();
  }

  String name() {
    return schedule.getMetadata().getName();
  }

  String namespace() {
    return schedule.getMetadata().getNamespace();
  }

  Instant created() {
    return Instant.parse(schedule.getMetadata().getCreationTimestamp());
  }

  /** What was brought back, the newest first. */
  List<AutomaticRestore> broughtBack() {
    return Objects.requireNonNullElse(status().getRestores(), List.of());
  }

  Optional<GpuRestore> restore(String name) {
    return restores.stream().filter(it -> it.getMetadata().getName().equals(name)).findFirst();
  }

  /** Why its artifact cannot be read now; empty: it can. */
  Optional<String> outOfReach(Taken taken) {
    return taken.node().map(unreachable::get);
  }

  /** Whether something needs its artifact now. */
  boolean isInUse(Taken taken) {
    return taken.isAtWork()
        || restores.stream()
            .filter(restore -> restore.getSpec().getCheckpointName().equals(taken.name()))
            .anyMatch(restore -> !isOver(restore))
        || broughtBack().stream()
            .anyMatch(it -> it.checkpoint().equals(taken.name()) && it.phase() == null);
  }

  static boolean isOver(GpuRestore restore) {
    RestorePhase phase = restore.getStatus() == null ? null : restore.getStatus().getPhase();
    return phase != null && phase.isFinal();
  }
}
