package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The limit of the test's settings is 4. */
class NamespaceLimitTest {

  private final World world = Samples.world(spec -> {});

  private GpuCheckpoint other(int number, String namespace, int seconds, CheckpointPhase phase) {
    GpuCheckpoint other = new GpuCheckpoint();
    other.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(namespace)
            .withName("other-" + number)
            .withUid("uid-other-" + number)
            .withCreationTimestamp(World.START.plusSeconds(seconds).toString())
            .build());
    GpuCheckpointSpec spec = new GpuCheckpointSpec();
    spec.setPodRef(PodReference.of("pod-" + number));
    other.setSpec(spec);
    other.setStatus(new GpuCheckpointStatus());
    other.getStatus().setPhase(phase);
    world.cluster.checkpoints.add(other);
    return other;
  }

  @Test
  void oneWaitsForTheOlderOnesOfItsNamespace() {
    other(1, "ml", -1, CheckpointPhase.FREEZING);
    other(2, "ml", -1, CheckpointPhase.SAVING);
    other(3, "ml", -1, CheckpointPhase.PENDING);
    GpuCheckpoint last = other(4, "ml", -1, CheckpointPhase.PENDING);
    world.settle();

    assertThat(world.condition("Ready"))
        .isEqualTo(
            "False/TooManyCheckpoints: namespace ml: expected fewer than 4 older GpuCheckpoints"
                + " that are not finished, got 4 or more");
    assertThat(world.operations()).isEmpty();

    last.getStatus().setPhase(CheckpointPhase.READY);
    world.settle();
    assertThat(world.operations()).hasSize(1);
  }

  @Test
  void youngerOnesFinishedOnesAndOtherNamespacesDoNotCount() {
    for (int number = 0; number < 4; number++) {
      other(number, "ml", 1, CheckpointPhase.PENDING);
      other(10 + number, "other", -1, CheckpointPhase.PENDING);
      other(20 + number, "ml", -1, CheckpointPhase.FAILED);
      other(30 + number, "ml", -1, CheckpointPhase.SUSPENDED);
    }
    world.settle();

    assertThat(world.operations()).hasSize(1);
  }

  /** Otherwise they are reconciled once a minute, and thousands may wait. */
  @Test
  void theEndOfOneTriggersThoseThatMayBegin() {
    GpuCheckpoint ends = other(1, "ml", 1, CheckpointPhase.FREEZING);
    GpuCheckpoint next = begun(other(2, "ml", 2, CheckpointPhase.FREEZING));
    begun(other(3, "ml", 3, CheckpointPhase.FREEZING));
    begun(other(4, "ml", 4, CheckpointPhase.PENDING));
    waits(other(5, "ml", 5, CheckpointPhase.PENDING), Reason.TOO_MANY_CHECKPOINTS);
    other(6, "ml", 6, CheckpointPhase.PENDING);
    waits(other(7, "ml", 7, CheckpointPhase.PENDING), Reason.NODE_SILENT);
    waits(other(8, "ml", 8, CheckpointPhase.PENDING), Reason.TOO_MANY_CHECKPOINTS);

    assertThat(triggered(ends, CheckpointPhase.SAVING)).isEmpty();
    assertThat(triggered(ends, CheckpointPhase.READY)).containsExactly("other-5");
    assertThat(triggered(ends, CheckpointPhase.READY)).isEmpty();

    assertThat(triggered(next, CheckpointPhase.FAILED)).containsExactly("other-6", "other-5");
    world.cluster.checkpoints.remove(0);
    GpuCheckpoint third = world.cluster.checkpoints.remove(1);
    assertThat(names(new Changed<>(Optional.of(third), Optional.empty())))
        .containsExactly("other-6", "other-5");
  }

  private List<String> triggered(GpuCheckpoint checkpoint, CheckpointPhase phase) {
    GpuCheckpoint before = world.serialization.clone(checkpoint);
    checkpoint.getStatus().setPhase(phase);
    return names(new Changed<>(Optional.of(before), Optional.of(checkpoint)));
  }

  private List<String> names(Changed<GpuCheckpoint> change) {
    return new NamespaceLimit(4)
        .admitted(world.cluster, change).stream().map(it -> it.getMetadata().getName()).toList();
  }

  private GpuCheckpoint begun(GpuCheckpoint checkpoint) {
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.setMetadata(
        new ObjectMetaBuilder()
            .withName("ckpt-" + checkpoint.getMetadata().getName())
            .addToLabels(Api.OPERATION_UID_LABEL, checkpoint.getMetadata().getUid())
            .build());
    world.cluster.operations.put(operation.getMetadata().getName(), operation);
    return checkpoint;
  }

  private static void waits(GpuCheckpoint checkpoint, Reason reason) {
    checkpoint
        .getStatus()
        .setConditions(
            new Conditions(List.of())
                .with(ConditionType.READY, ConditionValue.FALSE, reason, "waits", 1, World.START)
                .list());
  }
}
