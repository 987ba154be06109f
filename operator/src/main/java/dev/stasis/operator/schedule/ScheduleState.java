package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleSpec;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleStatus;
import dev.stasis.operator.status.CurrentPhase;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The observed state of one schedule.
 *
 * @param schedule the object, with a status
 * @param pods with GPUs that its selector matches, by name, without targets of restores
 * @param deletedPods deleted pods that it matched, in their last state
 * @param restoredPods of the namespace, with any labels: also those that Stasis removes, and
 *     targets that wait
 * @param checkpoints that it created, by due time
 * @param restores that it created, or that use one of its checkpoints, by name
 * @param unreachable why a node's disk cannot be read now, by the node's name
 * @param now the time of the observation
 */
record ScheduleState(
    GpuCheckpointSchedule schedule,
    List<Pod> pods,
    List<Pod> deletedPods,
    List<Pod> restoredPods,
    List<ScheduledCheckpoint> checkpoints,
    Map<String, GpuRestore> restores,
    Map<String, String> unreachable,
    Instant now) {

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

  /** Returns the restores in the status, the newest first. */
  List<AutomaticRestore> automaticRestores() {
    return Objects.requireNonNullElse(status().getRestores(), List.of());
  }

  Optional<GpuRestore> restore(String name) {
    return Optional.ofNullable(restores.get(name));
  }

  /** Returns the checkpoints that could be restored now. */
  Stream<ScheduledCheckpoint> restorableNow() {
    return checkpoints.stream().filter(it -> it.isRestorable() && unreadable(it).isEmpty());
  }

  /** Returns why the artifact cannot be read now; empty if it can. */
  Optional<String> unreadable(ScheduledCheckpoint checkpoint) {
    return checkpoint.node().map(unreachable::get);
  }

  /** Returns the names of checkpoints that are being taken or restored. */
  Set<String> inUse() {
    return Stream.of(
            checkpoints.stream()
                .filter(ScheduledCheckpoint::isActive)
                .map(ScheduledCheckpoint::name),
            checkpointsBeingRestored(),
            automaticRestores().stream()
                .filter(it -> it.phase() == null)
                .map(AutomaticRestore::checkpoint))
        .flatMap(names -> names)
        .collect(Collectors.toSet());
  }

  Stream<String> checkpointsBeingRestored() {
    return restores.values().stream()
        .filter(restore -> !phase(restore).isFinal())
        .map(restore -> restore.getSpec().checkpointName());
  }

  static RestorePhase phase(GpuRestore restore) {
    return CurrentPhase.of(restore);
  }
}
