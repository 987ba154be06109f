package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A GpuCheckpoint that a schedule made.
 *
 * @param object as it is
 */
record Taken(GpuCheckpoint object) {

  /** By what they keep; of two that were frozen in the same second by which was ordered first. */
  static final Comparator<Taken> OLDEST_FIRST =
      Comparator.comparing(Taken::frozen).thenComparing(Taken::due).thenComparing(Taken::name);

  String name() {
    return object.getMetadata().getName();
  }

  String pod() {
    return object.getSpec().getPodName();
  }

  String podUid() {
    return Objects.requireNonNullElse(object.getSpec().getPodUid(), "");
  }

  /** When it was due, before jitter. */
  Instant due() {
    Map<String, String> annotations =
        Objects.requireNonNullElse(object.getMetadata().getAnnotations(), Map.of());
    return Instant.parse(
        annotations.getOrDefault(
            Api.SCHEDULED_FOR_ANNOTATION, object.getMetadata().getCreationTimestamp()));
  }

  GpuCheckpointStatus status() {
    return Objects.requireNonNullElseGet(object.getStatus(), GpuCheckpointStatus::new);
  }

  @Nullable CheckpointPhase phase() {
    return status().getPhase();
  }

  /** Whether it is not over: neither safe nor given up. */
  boolean isAtWork() {
    CheckpointPhase phase = phase();
    return phase == null || (phase != CheckpointPhase.READY && !phase.isFinal());
  }

  /** Whether a verified artifact lies in the store that another pod can be restored from. */
  boolean isGood() {
    return condition().filter(ready -> ready.status() == Truth.TRUE).isPresent()
        && isPortable()
        && object.getMetadata().getDeletionTimestamp() == null;
  }

  /** Whether nothing of the workload keeps it from another pod. */
  boolean isPortable() {
    ArtifactStatus artifact = status().getArtifact();
    return artifact == null || artifact.obstacles(object.getSpec().getTcp()).isEmpty();
  }

  /** The state of what it keeps: nothing that happened later is in it. */
  Instant frozen() {
    return entered(CheckpointPhase.FREEZING)
        .or(() -> entered(CheckpointPhase.SAVING))
        .orElseGet(() -> Instant.parse(object.getMetadata().getCreationTimestamp()));
  }

  /** When it became Ready; empty: it is not. */
  Optional<Instant> ready() {
    return entered(CheckpointPhase.READY);
  }

  Optional<Condition> condition() {
    return new Conditions(Objects.requireNonNullElse(status().getConditions(), List.of()))
        .find(ConditionType.READY);
  }

  long bytes() {
    ArtifactStatus artifact = status().getArtifact();
    return artifact == null || artifact.getBytes() == null ? 0 : artifact.getBytes();
  }

  /** The only node from which its artifact can be read; empty: every one. */
  Optional<String> node() {
    return Optional.ofNullable(status().getArtifact()).map(ArtifactStatus::getNode);
  }

  private Optional<Instant> entered(CheckpointPhase phase) {
    return Objects.requireNonNullElse(status().getPhases(), List.<PhaseTime<CheckpointPhase>>of())
        .stream()
        .filter(entered -> entered.phase() == phase)
        .map(PhaseTime::time)
        .findFirst();
  }
}
