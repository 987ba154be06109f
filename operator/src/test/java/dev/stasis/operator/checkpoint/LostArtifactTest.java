package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** An artifact on the disk of a node is lost once the node has been missing for long. */
class LostArtifactTest {

  private final World world = ready();

  @Test
  void theTimeBeforeItsNodeWasMissingDoesNotCount() {
    Node node = world.cluster.nodes.get(0);
    world.cluster.nodes.set(
        0, new NodeBuilder(node).editOrNewSpec().withUnschedulable(true).endSpec().build());
    world.settle();
    assertThat(world.condition("Restorable")).startsWith("False/NoNodeFits");
    world.later(Duration.ofMinutes(20));
    world.settle();

    world.cluster.nodes.clear();
    world.settle();
    assertThat(world.condition("Restorable")).startsWith("Unknown/NodeGone");
    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);

    world.later(Duration.ofMinutes(16));
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("Failed")).startsWith("True/ArtifactLost");
  }

  @Test
  void aNodeThatRegistersAgainHasItsArtifact() {
    Node node = world.cluster.nodes.get(0);
    world.cluster.nodes.clear();
    world.settle();
    world.later(Duration.ofMinutes(14));
    world.cluster.nodes.add(node);
    world.cluster.gpuNodes.set(0, Samples.gpuNode("gpu-17", world.now));
    world.settle();
    assertThat(world.condition("Restorable")).startsWith("True/NodesFit");

    world.cluster.nodes.clear();
    world.later(Duration.ofMinutes(14));
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
  }

  private static World ready() {
    World world = Samples.world(AfterCheckpoint.RESUME);
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(Objects.requireNonNull(world.status().getArtifact()).getNode()).isEqualTo("gpu-17");
    return world;
  }
}
