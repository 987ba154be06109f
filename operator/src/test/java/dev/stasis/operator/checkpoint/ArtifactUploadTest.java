package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Backoff;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What waits for an artifact to be in its remote store, and what does not. */
class ArtifactUploadTest {

  private static World held(StoreDurability promised) {
    World world = Samples.world(AfterCheckpoint.EVICT).settle();
    world.agent(OperationType.CHECKPOINT, 1).holds().intoRemoteStore(promised);
    return world.settle();
  }

  private static World ready() {
    World world = Samples.world(AfterCheckpoint.RESUME).settle();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .succeeds(WorkloadState.RUNNING)
        .intoRemoteStore(StoreDurability.REMOTE);
    return world.settle();
  }

  private static boolean leaves(World world) {
    return world.pod().getMetadata().getDeletionTimestamp() != null;
  }

  private static ArtifactStatus artifact(World world) {
    return Objects.requireNonNull(world.status().getArtifact());
  }

  @Test
  void aPodIsRemovedOnlyWhenItsArtifactIsInTheRemoteStore() {
    World world = held(StoreDurability.REMOTE);

    assertThat(leaves(world)).isFalse();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.SAVING);
    assertThat(world.condition("StoredLocally")).startsWith("True/");
    assertThat(world.condition("Stored")).startsWith("False/Uploading");
    assertThat(world.condition("Ready")).contains("stays frozen until the artifact is stored");
    var order = world.operation(OperationType.UPLOAD, 1).orElseThrow().getSpec();
    assertThat(order.getNodeName()).isEqualTo("gpu-17");
    assertThat(order.getPod()).isNull();
    var reference = Objects.requireNonNull(order.getArtifact());
    assertThat(reference.sha256()).isEqualTo("9ab1");
    assertThat(reference.namespaceUid()).isEqualTo("namespace-1");

    world.agent(OperationType.UPLOAD, 1).uploads(7, 5);
    world.settle();

    assertThat(leaves(world)).isTrue();
    assertThat(world.condition("Stored")).startsWith("True/Uploaded");
    assertThat(artifact(world).getNode()).isNull();
    assertThat(artifact(world).getStoredBytes()).isEqualTo(7);
    assertThat(artifact(world).getNewBytes()).isEqualTo(5);

    world.agent(OperationType.END, 1).succeeds(WorkloadState.ENDED);
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.ENDED);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(artifact(world).getNode()).as("it is not on its node only").isNull();
    assertThat(artifact(world).getNewBytes()).isEqualTo(5);
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void anUploadedArtifactOutlivesTheNodeOfItsEvictedPod() {
    World world = held(StoreDurability.REMOTE);
    world.agent(OperationType.UPLOAD, 1).uploads(7, 5);
    world.settle();
    assertThat(leaves(world)).isTrue();
    world.cluster.nodes.clear();
    world.cluster.gpuNodes.clear();
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(world.condition("SourceRunning")).startsWith("False/Evicted");
    assertThat(artifact(world).getNode()).isNull();
    assertThat(world.status().getOperation()).isNull();
    assertThat(world.operations()).isEmpty();
  }

  /** The agent has read only the copy on the disk of its node. */
  @Test
  void anUploadedArtifactIsReadyAlthoughTheCopyOnItsRebootedNodeIsDamaged() {
    World world = held(StoreDurability.REMOTE);
    world.agent(OperationType.UPLOAD, 1).uploads(7, 5);
    world.settle();
    assertThat(leaves(world)).isTrue();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .fails(Outcome.LOST, "WorkloadGone", ConditionValue.FALSE)
        .namesNoArtifact()
        .corrects(WorkloadState.ENDED, ConditionValue.FALSE);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(world.condition("SourceRunning")).startsWith("False/Evicted");
    assertThat(artifact(world).getNode()).isNull();
    assertThat(artifact(world).getSha256()).isEqualTo("9ab1");
  }

  /** The frozen workload may have ended with its node, and another node can delete the artifact. */
  @Test
  void theUploadedArtifactOfAWorkloadOnASilentNodeStays() {
    World world = Samples.world(AfterCheckpoint.EVICT).settle();
    world.evictAnswer = new PodWrites.Refused("would violate the budget", true);
    world.agent(OperationType.CHECKPOINT, 1).holds().intoRemoteStore(StoreDurability.REMOTE);
    world.settle();
    world.agent(OperationType.UPLOAD, 1).uploads(7, 5);
    world.settle();
    world.later(Duration.ofHours(2));
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("SourceRunning")).startsWith("Unknown/NodeSilent");

    world.delete();
    world.later(Duration.ofMinutes(16));
    world.cluster.nodes.add(Samples.node("gpu-18"));
    world.cluster.gpuNodes.add(Samples.gpuNode("gpu-18", world.now));
    world.settle();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isEmpty();
    var order = world.operation(OperationType.RETAIN_ARTIFACT, 1).orElseThrow().getSpec();
    assertThat(order.getNodeName()).isEqualTo("gpu-18");
  }

  @Test
  void anArtifactOnTheNodeOfAnEvictedPodIsLostWithIt() {
    World world = Samples.world(AfterCheckpoint.EVICT).settle();
    world.agent(OperationType.CHECKPOINT, 1).holds();
    world.settle();
    assertThat(leaves(world)).isTrue();
    world.cluster.nodes.clear();
    world.cluster.gpuNodes.clear();
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("SourceRunning")).startsWith("False/NodeGone");
  }

  @Test
  void withoutThePromiseThePodIsRemovedAtOnceAndTheUploadGoesOn() {
    World world = held(StoreDurability.LOCAL);

    assertThat(leaves(world)).isTrue();
    assertThat(world.operation(OperationType.UPLOAD, 1)).isPresent();
  }

  @Test
  void aWorkloadWhoseUploadIsLateResumesAndTheCheckpointFailsWithTheCause() {
    World world = held(StoreDurability.REMOTE);
    world.agent(OperationType.UPLOAD, 1).waitsForTheStore("store s3: connection refused; retried");
    world.settle();
    assertThat(world.condition("Stored")).startsWith("False/UploadFailed: store s3: connection");
    assertThat(leaves(world)).isFalse();

    world
        .agent(OperationType.CHECKPOINT, 1)
        .fails(Outcome.UNDONE, "DeadlineExceeded", ConditionValue.TRUE);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("Failed"))
        .contains("artifact: expected it in store local before the pod is removed")
        .contains("connection refused");
    assertThat(world.condition("SourceRunning")).startsWith("True/");
    assertThat(world.condition("StoredLocally")).startsWith("False/");
    assertThat(leaves(world)).isFalse();
    assertThat(world.operation(OperationType.UPLOAD, 1).orElseThrow().getSpec().getCancel())
        .isTrue();
  }

  @Test
  void aWorkloadThatRunsOnIsReadyBeforeTheUpload() {
    World world = ready();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(world.condition("Ready")).startsWith("True/");
    assertThat(world.condition("StoredLocally")).startsWith("True/");
    assertThat(world.condition("Stored")).startsWith("False/Uploading");
    assertThat(artifact(world).keepsPromise()).isFalse();

    world.agent(OperationType.UPLOAD, 1).works("upload", WorkloadState.UNKNOWN).done(3, 9);
    world.settle();
    assertThat(world.status().getStep()).isEqualTo("upload");
    assertThat(world.status().getDoneBytes()).isEqualTo(3);

    world.agent(OperationType.UPLOAD, 1).uploads(7, 5);
    world.settle();
    assertThat(world.condition("Stored")).startsWith("True/Uploaded");
    assertThat(artifact(world).keepsPromise()).isTrue();
    assertThat(world.status().getStep()).isNull();
    assertThat(world.operations()).isEmpty();
    assertThat(world.stories).extracting(it -> it.reason().value()).contains("Uploaded");
  }

  @Test
  void anUploadThatFailedIsOrderedAgainLater() {
    World world = ready();
    world
        .agent(OperationType.UPLOAD, 1)
        .claims()
        .fails(Outcome.UNDONE, "StoreWrongCredentials", ConditionValue.UNKNOWN)
        .endsNow();
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(world.condition("Stored")).startsWith("False/UploadFailed");
    assertThat(world.again).isPositive().isLessThanOrEqualTo(Backoff.PATIENT);

    world.later(Backoff.PATIENT);
    world.settle();

    assertThat(world.operation(OperationType.UPLOAD, 1).orElseThrow().getStatus()).isNull();
  }

  @Test
  void aHeldWorkloadWhoseCheckpointIsDeletedIsNotUploaded() {
    World world = Samples.world(AfterCheckpoint.EVICT).settle();
    world.agent(OperationType.CHECKPOINT, 1).holds().intoRemoteStore(StoreDurability.REMOTE);
    world.delete();
    world.settle();

    assertThat(world.operation(OperationType.UPLOAD, 1)).isEmpty();
    assertThat(world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getCancel())
        .isTrue();
  }

  @Test
  void aDeletionEndsTheUploadAndDeletesBothCopies() {
    World world = ready();
    world.agent(OperationType.UPLOAD, 1).works("upload", WorkloadState.UNKNOWN);
    world.delete();
    world.settle();
    assertThat(world.operation(OperationType.UPLOAD, 1).orElseThrow().getSpec().getCancel())
        .isTrue();

    world.agent(OperationType.UPLOAD, 1).ends(OperationPhase.CANCELLED, Outcome.UNDONE);
    world.settle();

    var order = world.operation(OperationType.DELETE_ARTIFACT, 1).orElseThrow().getSpec();
    assertThat(order.getNodeName()).isEqualTo("gpu-17");
    assertThat(Objects.requireNonNull(order.getArtifact()).namespaceUid()).isEqualTo("namespace-1");
  }
}
