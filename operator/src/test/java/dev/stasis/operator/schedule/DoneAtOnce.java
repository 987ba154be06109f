package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuCheckpointSchedule;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.restore.GpuRestoreSpec;
import dev.stasis.api.v1alpha1.schedule.AutomaticRestore;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Does what is asked of the API server, and the agents' part at once. */
final class DoneAtOnce implements Deeds {

  private final World world;

  DoneAtOnce(World world) {
    this.world = world;
  }

  @Override
  public void begin(GpuCheckpointSchedule of, Runs.Begin run) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(World.NAMESPACE)
            .withName(run.checkpoint())
            .withUid("uid-" + run.checkpoint())
            .withCreationTimestamp(world.now.toString())
            .addToLabels(Api.OPERATION_UID_LABEL, "sched-uid")
            .addToAnnotations(Api.SCHEDULED_FOR_ANNOTATION, run.due().toString())
            .build());
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.getSpec().setPodName(run.pod().getMetadata().getName());
    checkpoint.getSpec().setPodUid(run.pod().getMetadata().getUid());
    checkpoint.setStatus(taken(run));
    world.cluster.checkpoints.add(checkpoint);
  }

  private GpuCheckpointStatus taken(Runs.Begin run) {
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    status.setPhase(world.outcome);
    status.setPhases(
        List.of(
            new PhaseTime<>(CheckpointPhase.FREEZING, world.now),
            new PhaseTime<>(world.outcome, world.now.plusSeconds(2))));
    status.setPod(
        new ObservedPod(
            run.pod().getMetadata().getName(),
            run.pod().getMetadata().getUid(),
            "main",
            run.pod().getSpec().getNodeName()));
    status.setPodTemplate(new KubernetesSerialization().convertValue(run.pod(), Map.class));
    boolean good = world.outcome == CheckpointPhase.READY;
    if (good) {
      ArtifactStatus artifact = new ArtifactStatus();
      artifact.setStore("local");
      artifact.setNode(run.pod().getSpec().getNodeName());
      artifact.setBytes(100L);
      status.setArtifact(artifact);
    }
    status.setConditions(
        List.of(
            new Condition(
                "Ready",
                good ? Truth.TRUE : world.outcome.isFinal() ? Truth.FALSE : Truth.UNKNOWN,
                good ? "ArtifactVerified" : "OperationFailed",
                "",
                world.now,
                1L)));
    return status;
  }

  @Override
  public void cancel(Taken taken) {
    taken.object().getSpec().setCancel(true);
  }

  @Override
  public void delete(Taken taken) {
    world.cluster.checkpoints.remove(taken.object());
  }

  @Override
  public void restore(GpuCheckpointSchedule of, AutomaticRestore back) {
    if (world.cluster.restores.stream()
        .anyMatch(it -> it.getMetadata().getName().equals(back.restore()))) {
      return;
    }
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(World.NAMESPACE)
            .withName(back.restore())
            .addToLabels(Api.OPERATION_UID_LABEL, "sched-uid")
            .build());
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointName(back.checkpoint());
    world.cluster.restores.add(restore);
  }

  @Override
  public Optional<String> depart(Pod pod) {
    return Optional.ofNullable(world.ownerStarts);
  }

  @Override
  public void remove(Pod pod, boolean force) {
    world.removed.add(pod.getMetadata().getName() + (force ? " by force" : ""));
    world.cluster.pods.remove(pod);
  }
}
