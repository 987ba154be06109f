package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.node.AgentLife;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CheckpointEventSourcesTest {

  private final Pod pod =
      new PodBuilder()
          .withNewMetadata()
          .withName("trainer")
          .withResourceVersion("1")
          .endMetadata()
          .withNewSpec()
          .endSpec()
          .withNewStatus()
          .withPhase("Running")
          .endStatus()
          .build();

  /** The operator wrote it itself, and knows it. */
  @Test
  void onlyTheReportOfAFreezeOnAPodTriggersNothing() {
    Pod frozen = condition(Api.FROZEN_POD_CONDITION, "2");
    assertThat(isFrozenConditionOnly(pod, frozen)).isTrue();
    assertThat(isFrozenConditionOnly(frozen, pod)).isTrue();

    assertThat(isFrozenConditionOnly(pod, condition("PodResizePending", "2"))).isFalse();
    Pod leaves =
        new PodBuilder(frozen)
            .editMetadata()
            .withDeletionTimestamp("2026-11-25T10:00:00Z")
            .endMetadata()
            .build();
    assertThat(isFrozenConditionOnly(pod, leaves)).isFalse();
    Pod resized =
        new PodBuilder(frozen).editSpec().withActiveDeadlineSeconds(60L).endSpec().build();
    assertThat(isFrozenConditionOnly(pod, resized)).isFalse();
    Pod ended = new PodBuilder(frozen).editStatus().withPhase("Failed").endStatus().build();
    assertThat(isFrozenConditionOnly(pod, ended)).isFalse();
    assertThat(
            CheckpointEventSources.isFrozenConditionOnly(
                new Changed<>(Optional.of(frozen), Optional.empty())))
        .isFalse();
  }

  /** Each would be a reconciliation that changes nothing. */
  @Test
  void whatTheGpuCheckpointDidToItsOperationTriggersNothing() {
    World world = Samples.world(AfterCheckpoint.RESUME).settle();
    GpuNodeOperation created = world.operation(OperationType.CHECKPOINT, 1).orElseThrow();
    assertThat(isKnown(world, null, created)).isTrue();
    assertThat(isKnown(world, created, null)).isFalse();

    world.agent(OperationType.CHECKPOINT, 1).works("dump", WorkloadState.FROZEN);
    assertThat(isKnown(world, null, created)).isFalse();
    assertThat(isKnown(world, created, created)).isFalse();
    assertThat(isKnown(world, created, null)).isFalse();

    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.cluster.checkpoints.add(world.checkpoint);
    assertThat(isKnown(world, created, null)).isFalse();
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(isKnown(world, created, null)).isTrue();

    created.getSpec().setType(OperationType.UPLOAD);
    assertThat(isKnown(world, created, null)).isFalse();
    created.getSpec().setType(OperationType.CHECKPOINT);
    world.checkpoint.getSpec().setAfterCheckpoint(AfterCheckpoint.SUSPEND);
    assertThat(isKnown(world, created, null)).isFalse();
    world.checkpoint.getSpec().setAfterCheckpoint(AfterCheckpoint.RESUME);
    // Its deletion waits for that of the operation.
    world.checkpoint.getMetadata().setDeletionTimestamp(world.now.toString());
    assertThat(isKnown(world, created, null)).isFalse();
  }

  /** A claim triggers a reconciliation; silence and a deadline trigger none. */
  @Test
  void anUnclaimedOperationIsObservedAgainWhenItsAgentIsSilentOrTheDeadlineIsOver() {
    World world = Samples.world(AfterCheckpoint.RESUME);
    world.turn();
    assertThat(world.operations()).hasSize(1);
    assertThat(world.again).isEqualTo(AgentLife.SILENT_AFTER);
    world.later(Duration.ofMinutes(1));
    world.settle();
    assertThat(world.again).isEqualTo(AgentLife.SILENT_AFTER.minusMinutes(1));

    world.later(Duration.ofMinutes(3));
    world.settle();
    assertThat(world.condition("Ready")).startsWith("False/NodeSilent");
    assertThat(world.again).isEqualTo(world.config.lookAgainEvery());

    world.cluster.gpuNodes.set(0, Samples.gpuNode("gpu-17", world.now.plus(Duration.ofHours(1))));
    world.settle();
    assertThat(world.again).isEqualTo(Duration.ofMinutes(30 - 4));
  }

  private static boolean isKnown(
      World world, @Nullable GpuNodeOperation before, @Nullable GpuNodeOperation after) {
    return CheckpointEventSources.isKnown(
        world.cluster, new Changed<>(Optional.ofNullable(before), Optional.ofNullable(after)));
  }

  private static boolean isFrozenConditionOnly(Pod before, Pod after) {
    return CheckpointEventSources.isFrozenConditionOnly(
        new Changed<>(Optional.of(before), Optional.of(after)));
  }

  private Pod condition(String type, String version) {
    return new PodBuilder(pod)
        .editMetadata()
        .withResourceVersion(version)
        .endMetadata()
        .editStatus()
        .addNewCondition()
        .withType(type)
        .withStatus("True")
        .endCondition()
        .endStatus()
        .build();
  }
}
