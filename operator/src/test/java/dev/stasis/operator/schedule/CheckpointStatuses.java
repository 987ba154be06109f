package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PhaseTime;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Statuses of checkpoints that have ended. */
final class CheckpointStatuses {

  private CheckpointStatuses() {}

  static GpuCheckpointStatus of(Pod pod, CheckpointPhase outcome, Instant now) {
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    status.setPhase(outcome);
    status.setPhases(
        List.of(
            new PhaseTime<>(CheckpointPhase.FREEZING, now),
            new PhaseTime<>(outcome, now.plusSeconds(2))));
    status.setPod(
        new ObservedPod(
            pod.getMetadata().getName(),
            pod.getMetadata().getUid(),
            "main",
            pod.getSpec().getNodeName()));
    @SuppressWarnings("unchecked") // an object of JSON is one
    Map<String, Object> template = new KubernetesSerialization().convertValue(pod, Map.class);
    status.setPodTemplate(template);
    boolean good = outcome == CheckpointPhase.READY;
    if (good) {
      ArtifactStatus artifact = new ArtifactStatus();
      artifact.setStore("local");
      artifact.setNode(pod.getSpec().getNodeName());
      artifact.setBytes(100L);
      status.setArtifact(artifact);
    }
    status.setConditions(
        List.of(
            new Condition(
                "Ready",
                good ? ConditionValue.TRUE : ConditionValue.FALSE,
                good ? "ArtifactVerified" : "OperationFailed",
                "",
                now,
                1L)));
    return status;
  }

  /** A verification finds its artifact damaged. */
  static void damage(GpuCheckpoint checkpoint) {
    GpuCheckpointStatus status = Objects.requireNonNull(checkpoint.getStatus());
    List<Condition> conditions =
        new ArrayList<>(Objects.requireNonNullElse(status.getConditions(), List.of()));
    conditions.add(
        new Condition(
            "Restorable",
            ConditionValue.FALSE,
            "ArtifactDamaged",
            "sha256 of pages-1.img: expected a, got b",
            Instant.EPOCH,
            1L));
    status.setConditions(conditions);
  }
}
