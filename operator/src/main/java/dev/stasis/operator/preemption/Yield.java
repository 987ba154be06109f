package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A pod that yields: the GpuCheckpoint that evicts it and the GpuRestore that brings it back, both
 * of the same name.
 *
 * @param checkpoint gone once it is back
 * @param restore made a moment after the checkpoint; goes when its hour is over
 */
record Yield(Optional<GpuCheckpoint> checkpoint, Optional<GpuRestore> restore) {

  /** All that a policy has made and not forgotten, by name. */
  static List<Yield> of(List<GpuCheckpoint> checkpoints, List<GpuRestore> restores) {
    Map<String, GpuRestore> backs = new TreeMap<>();
    restores.forEach(it -> backs.put(key(it), it));
    Map<String, Yield> all = new LinkedHashMap<>();
    for (GpuCheckpoint checkpoint : checkpoints) {
      String key = key(checkpoint);
      all.put(key, new Yield(Optional.of(checkpoint), Optional.ofNullable(backs.remove(key))));
    }
    backs.forEach(
        (key, restore) -> all.put(key, new Yield(Optional.empty(), Optional.of(restore))));
    return new ArrayList<>(all.values());
  }

  private static String key(HasMetadata made) {
    return made.getMetadata().getNamespace() + "/" + made.getMetadata().getName();
  }

  HasMetadata any() {
    return checkpoint.<HasMetadata>map(it -> it).or(() -> restore).orElseThrow();
  }

  String name() {
    return any().getMetadata().getName();
  }

  String namespace() {
    return any().getMetadata().getNamespace();
  }

  Instant created() {
    return Stream.concat(checkpoint.<HasMetadata>map(it -> it).stream(), restore.stream())
        .map(it -> Instant.parse(it.getMetadata().getCreationTimestamp()))
        .min(Instant::compareTo)
        .orElseThrow();
  }

  /** Name of the pod. */
  String victim() {
    return checkpoint
        .map(it -> it.getSpec().getPodName())
        .or(() -> restore.map(it -> it.getSpec().getTarget()).map(Target::podName))
        .orElse("");
  }

  /** Name of the pod in which it comes back; that of a controller has another one then. */
  String comesBackAs() {
    return restore
        .map(GpuRestore::getStatus)
        .map(status -> status.getPod())
        .map(ObservedPod::name)
        .orElseGet(this::victim);
  }

  /** For whom: namespace, name, uid. */
  Preemptor preemptor() {
    Map<String, String> annotations =
        Objects.requireNonNullElse(any().getMetadata().getAnnotations(), Map.of());
    String[] parts = annotations.getOrDefault(Api.PREEMPTOR_ANNOTATION, "//").split("/", -1);
    return new Preemptor(parts[0], parts[1], parts[2]);
  }

  /** A pod for which room is made. */
  record Preemptor(String namespace, String name, String uid) {}

  GpuCheckpointStatus status() {
    return checkpoint.map(GpuCheckpoint::getStatus).orElseGet(GpuCheckpointStatus::new);
  }

  /** Whether it is being frozen. */
  boolean isAtWork() {
    CheckpointPhase phase = status().getPhase();
    return checkpoint.isPresent()
        && (phase == null || (phase != CheckpointPhase.READY && !phase.isFinal()));
  }

  /** Whether it could not be frozen, and goes on. */
  boolean isRefused() {
    CheckpointPhase phase = status().getPhase();
    return (phase == CheckpointPhase.FAILED || phase == CheckpointPhase.CANCELLED) && !isEvicted();
  }

  /** Whether its pod has gone and its artifact is safe. */
  boolean isEvicted() {
    return isSource(Reason.EVICTED);
  }

  /** Whether its freeze could not be undone yet. */
  boolean isLeftFrozen() {
    return isSource(Reason.NOT_THAWED);
  }

  private boolean isSource(Reason reason) {
    return new Conditions(Objects.requireNonNullElse(status().getConditions(), List.of()))
        .find(ConditionType.SOURCE_RUNNING)
        .filter(condition -> condition.reason().equals(reason.word()))
        .isPresent();
  }

  RestorePhase back() {
    RestorePhase phase =
        restore.map(GpuRestore::getStatus).map(status -> status.getPhase()).orElse(null);
    return Objects.requireNonNullElse(phase, RestorePhase.PENDING);
  }

  /** Whether it waits for a place. */
  boolean isAway() {
    return isEvicted() && !back().isFinal();
  }

  boolean isCancelled() {
    return checkpoint.filter(it -> Boolean.TRUE.equals(it.getSpec().getCancel())).isPresent();
  }

  /** When it had yielded. */
  Optional<Instant> evicted() {
    return time(Objects.requireNonNullElse(status().getPhases(), List.of()), CheckpointPhase.READY);
  }

  /** When it was back. */
  Optional<Instant> returned() {
    return restore
        .map(GpuRestore::getStatus)
        .map(status -> status.getPhases())
        .flatMap(phases -> time(phases, RestorePhase.SUCCEEDED));
  }

  private static <P extends Enum<P> & dev.stasis.api.v1alpha1.common.Phase<P>>
      Optional<Instant> time(List<PhaseTime<P>> phases, P wanted) {
    return phases.stream()
        .filter(entered -> entered.phase() == wanted)
        .map(PhaseTime::time)
        .findFirst();
  }
}
