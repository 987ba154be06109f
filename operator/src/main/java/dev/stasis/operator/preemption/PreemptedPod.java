package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A preempted pod: the GpuCheckpoint that evicts it and the GpuRestore that restores it, both of
 * the same name.
 *
 * @param checkpoint deleted once the pod is restored
 * @param restore created after the checkpoint, and kept for the budget's hour
 */
record PreemptedPod(Optional<GpuCheckpoint> checkpoint, Optional<GpuRestore> restore) {

  /** Returns all pods that a policy preempted, from the objects that it created. */
  static List<PreemptedPod> of(List<GpuCheckpoint> checkpoints, List<GpuRestore> restores) {
    Map<String, GpuRestore> remaining = new TreeMap<>();
    restores.forEach(it -> remaining.put(key(it), it));
    Map<String, PreemptedPod> all = new LinkedHashMap<>();
    for (GpuCheckpoint checkpoint : checkpoints) {
      String key = key(checkpoint);
      all.put(
          key,
          new PreemptedPod(Optional.of(checkpoint), Optional.ofNullable(remaining.remove(key))));
    }
    remaining.forEach(
        (key, restore) -> all.put(key, new PreemptedPod(Optional.empty(), Optional.of(restore))));
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

  String victim() {
    return checkpoint
        .map(it -> it.getSpec().podName())
        .or(() -> restore.map(it -> it.getSpec().getTarget()).map(Target::podName))
        .orElse("");
  }

  /** Returns the name of the pod into which it is restored: with a controller it is another one. */
  String restoredAs() {
    return restore
        .map(GpuRestore::getStatus)
        .map(status -> status.getPod())
        .map(ObservedPod::name)
        .orElseGet(this::victim);
  }

  Preemptor preemptor() {
    String[] parts = Marks.annotation(any(), Api.PREEMPTOR_ANNOTATION).orElse("//").split("/", -1);
    return new Preemptor(parts[0], parts[1], parts[2]);
  }

  /** A pod for which other pods are preempted. */
  record Preemptor(String namespace, String name, String uid) {}

  GpuCheckpointStatus status() {
    return checkpoint.map(GpuCheckpoint::getStatus).orElseGet(GpuCheckpointStatus::new);
  }

  /** Returns whether it is being checkpointed. */
  boolean isActive() {
    CheckpointPhase phase = status().getPhase();
    return checkpoint.isPresent()
        && (phase == null || (phase != CheckpointPhase.READY && !phase.isFinal()));
  }

  /** Returns whether it could not be checkpointed, and keeps running. */
  boolean isRefused() {
    CheckpointPhase phase = status().getPhase();
    return (phase == CheckpointPhase.FAILED || phase == CheckpointPhase.CANCELLED) && !isEvicted();
  }

  /** Returns whether it is evicted and its artifact is verified. */
  boolean isEvicted() {
    return Conditions.of(status()).isEvicted();
  }

  /** Returns whether it is still frozen after a failure. */
  boolean isLeftFrozen() {
    return Conditions.of(status()).has(ConditionType.SOURCE_RUNNING, Reason.NOT_THAWED);
  }

  RestorePhase restorePhase() {
    return restore.map(CurrentPhase::of).orElse(RestorePhase.PENDING);
  }

  /** Returns whether it is evicted and not restored yet. */
  boolean isAway() {
    return isEvicted() && !restorePhase().isFinal();
  }

  boolean isCancelled() {
    return checkpoint
        .filter(it -> Boolean.TRUE.equals(it.getSpec().getOptions().getCancel()))
        .isPresent();
  }

  Optional<Instant> evicted() {
    return PhaseLog.of(status()).first(CheckpointPhase.READY);
  }

  Optional<Instant> restored() {
    return restore.flatMap(it -> PhaseLog.of(it.getStatus()).first(RestorePhase.SUCCEEDED));
  }
}
