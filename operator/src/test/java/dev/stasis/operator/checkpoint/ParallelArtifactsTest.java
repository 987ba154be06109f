package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import org.junit.jupiter.api.Test;

/** Two artifacts that are written at once into a store without a quota, 1.2 TiB of it usable. */
class ParallelArtifactsTest {

  private static final long TIB = 1L << 40;

  private final World world = Samples.world(AfterCheckpoint.RESUME).settle();

  @Test
  void oneThatDoesNotFitBesideAnEarlierOneIsCancelled() {
    writesAnother();
    world.agent(OperationType.CHECKPOINT, 1).expects(TIB / 2);

    assertThat(isCancelled()).isTrue();
  }

  @Test
  void anArtifactThatIsCompleteTakesNoRoomBesideItsOwnBytes() {
    writesAnother();
    world.cluster.checkpoints.add(finished());
    world.agent(OperationType.CHECKPOINT, 1).expects(TIB / 2);

    assertThat(isCancelled()).isFalse();
  }

  private boolean isCancelled() {
    world.settle();
    return world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getCancel();
  }

  /** The GpuCheckpoint other was claimed first, and needs 1 TiB. */
  private void writesAnother() {
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.setMetadata(
        new ObjectMetaBuilder().withNamespace("stasis-system").withName("other-1").build());
    GpuNodeOperationSpec spec = new GpuNodeOperationSpec();
    spec.setType(OperationType.CHECKPOINT);
    spec.setNodeName("gpu-17");
    spec.setRequester(new ObjectReference("GpuCheckpoint", "ml", "other", "uid-2"));
    spec.setArtifact(new ArtifactReference("local", "ml/other-uid-2", "ml", "uid-2", null));
    operation.setSpec(spec);
    GpuNodeOperationStatus status = new GpuNodeOperationStatus();
    status.setPhase(OperationPhase.RUNNING);
    status.setClaimedBy(new Claim("agent", "boot-1", World.START.minusSeconds(1)));
    status.setTotalBytes(TIB);
    operation.setStatus(status);
    world.cluster.operations.put("other-1", operation);
  }

  private static GpuCheckpoint finished() {
    GpuCheckpoint other = new GpuCheckpoint();
    other.setMetadata(
        new ObjectMetaBuilder().withNamespace("ml").withName("other").withUid("uid-2").build());
    other.setSpec(new GpuCheckpointSpec());
    other.getSpec().setPodRef(PodReference.of("another"));
    other.setStatus(new GpuCheckpointStatus());
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore("local");
    artifact.setBytes(TIB);
    other.getStatus().setArtifact(artifact);
    return other;
  }
}
