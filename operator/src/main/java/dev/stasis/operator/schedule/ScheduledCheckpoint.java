package dev.stasis.operator.schedule;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.operator.pod.FormerPods;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.SavedState;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A GpuCheckpoint that a schedule created. */
record ScheduledCheckpoint(GpuCheckpoint object) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** By the time of the saved state, then by due time. */
  static final Comparator<ScheduledCheckpoint> OLDEST_FIRST =
      Comparator.comparing(ScheduledCheckpoint::frozen)
          .thenComparing(ScheduledCheckpoint::due)
          .thenComparing(ScheduledCheckpoint::name);

  String name() {
    return object.getMetadata().getName();
  }

  String pod() {
    return object.getSpec().podName();
  }

  String podUid() {
    return Objects.requireNonNullElse(object.getSpec().podUid(), "");
  }

  /** Returns its scheduled time, before jitter. */
  Instant due() {
    return Instant.parse(
        Marks.annotation(object, Api.SCHEDULED_FOR_ANNOTATION)
            .orElse(object.getMetadata().getCreationTimestamp()));
  }

  GpuCheckpointStatus status() {
    return Objects.requireNonNullElseGet(object.getStatus(), GpuCheckpointStatus::new);
  }

  @Nullable CheckpointPhase phase() {
    return status().getPhase();
  }

  /** Returns whether it is in progress. */
  boolean isActive() {
    CheckpointPhase phase = phase();
    return phase == null || (phase != CheckpointPhase.READY && !phase.isFinal());
  }

  /** Returns whether its store has a verified artifact from which another pod can be restored. */
  boolean isRestorable() {
    return condition().filter(ready -> ready.status() == ConditionValue.TRUE).isPresent()
        && isPortable()
        && !isDamaged()
        && object.getMetadata().getDeletionTimestamp() == null;
  }

  /** Returns whether a verification found its artifact damaged. */
  boolean isDamaged() {
    return Conditions.of(status()).isDamaged();
  }

  /** Returns whether its artifact is where its store promises to have it. */
  boolean isStored() {
    ArtifactStatus artifact = status().getArtifact();
    return artifact == null || artifact.keepsPromise();
  }

  /** Returns whether the workload can be restored into another pod. */
  boolean isPortable() {
    ArtifactStatus artifact = status().getArtifact();
    return artifact == null
        || artifact.obstacles(object.getSpec().getOptions().getTcpConnections()).isEmpty();
  }

  /** Returns the time of the saved state. */
  Instant frozen() {
    return new SavedState(object).time();
  }

  /** Returns how long its workload had run; zero if that is unknown. */
  Duration work() {
    Instant start = status().getWorkloadStartTime();
    return start == null || start.isAfter(frozen())
        ? Duration.ZERO
        : Duration.between(start, frozen());
  }

  /** Returns when it became Ready; empty if it is not. */
  Optional<Instant> ready() {
    return entered(CheckpointPhase.READY);
  }

  Optional<Condition> condition() {
    return Conditions.of(status()).find(ConditionType.READY);
  }

  long bytes() {
    ArtifactStatus artifact = status().getArtifact();
    return artifact == null || artifact.getBytes() == null ? 0 : artifact.getBytes();
  }

  /** Returns the only node that can read its artifact; empty if every node can. */
  Optional<String> node() {
    return Optional.ofNullable(status().getArtifact()).map(ArtifactStatus::getNode);
  }

  /** Returns the former pods of a pod that is restored from it. */
  FormerPods formerPodsAfter() {
    JsonNode template = JSON.valueToTree(status().getPodTemplate());
    String former =
        template.path("metadata").path("annotations").path(Api.FORMER_PODS_ANNOTATION).textValue();
    return FormerPods.after(
        new ObjectMetaBuilder()
            .withUid(podUid())
            .addToAnnotations(Api.FORMER_PODS_ANNOTATION, former)
            .build(),
        frozen());
  }

  private Optional<Instant> entered(CheckpointPhase phase) {
    return PhaseLog.of(status()).first(phase);
  }
}
