package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.PodReference;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
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
            "Unknown/TooManyCheckpoints: namespace ml: expected fewer than 4 older GpuCheckpoints"
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
}
