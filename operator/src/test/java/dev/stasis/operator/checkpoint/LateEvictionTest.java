package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.pod.PodWrites;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The agent of an eviction is silent until the request fails. Its artifact is Ready once the
 * workload exists nowhere else.
 */
class LateEvictionTest {

  private final World world = Samples.world(AfterCheckpoint.EVICT).settle();

  @BeforeEach
  void hold() {
    agent().holds();
  }

  private FakeAgent agent() {
    return world.agent(OperationType.CHECKPOINT, 1);
  }

  private GpuNodeOperationStatus reported() {
    return Objects.requireNonNull(
        world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getStatus());
  }

  private void fail() {
    world.settle();
    world.later(Duration.ofHours(2));
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("Ready")).startsWith("False/NodeSilent");
    assertThat(world.condition("SourceRunning")).startsWith("Unknown/NodeSilent");
  }

  private void answer() {
    world.cluster.gpuNodes.set(0, Samples.gpuNode("gpu-17", world.now));
    world.settle();
  }

  private void isRestorableThoughFailed(String source) {
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("Failed")).startsWith("True/NodeSilent");
    assertThat(world.condition("Ready")).isEqualTo("True/ArtifactVerified: 48.9Gi in store local");
    assertThat(world.condition("SourceRunning")).startsWith(source);
    assertThat(artifact().getLocation()).isEqualTo("ml/train-1-uid-1");
    assertThat(world.status().getOperation()).isNull();
    assertThat(world.operations()).isEmpty();
  }

  private ArtifactStatus artifact() {
    return Objects.requireNonNull(world.status().getArtifact());
  }

  @Test
  void aFailedEvictionSaysWhereItsCompleteArtifactIs() {
    fail();
    assertThat(world.condition("Failed"))
        .endsWith("; its artifact is complete: ml/train-1-uid-1 in store local");
  }

  @Test
  void anAgentThatAnswersLateEndsTheWorkloadAndTheArtifactIsReady() {
    fail();
    answer();
    assertThat(world.operation(OperationType.END, 1).orElseThrow().getSpec().getCancel()).isFalse();
    assertThat(world.condition("Ready")).startsWith("False/");

    agent().succeeds(WorkloadState.ENDED);
    world.agent(OperationType.END, 1).succeeds(WorkloadState.ENDED);
    world.cluster.pods.clear();
    world.settle();
    isRestorableThoughFailed("False/WorkloadLost: its pod was removed after the artifact");
    assertThat(world.condition("Restorable")).startsWith("True/NodesFit");

    world.delete();
    world.settle();
    assertThat(world.operation(OperationType.RETAIN_ARTIFACT, 1)).isPresent();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isEmpty();
  }

  /** It may be the only copy for a long time. */
  @Test
  void theArtifactOfALateEvictionIsVerifiedEveryWeek() {
    fail();
    answer();
    agent().succeeds(WorkloadState.ENDED);
    world.agent(OperationType.END, 1).succeeds(WorkloadState.ENDED);
    world.cluster.pods.clear();
    world.settle();
    isRestorableThoughFailed("False/WorkloadLost");

    world.later(Duration.ofDays(7));
    answer();
    world
        .agent(OperationType.VERIFY, 1)
        .fails(Outcome.UNDONE, "ArtifactDamaged", ConditionValue.UNKNOWN)
        .endsNow();
    world.settle();
    assertThat(world.condition("Restorable")).startsWith("False/ArtifactDamaged");
    assertThat(world.status().getLastVerified()).isEqualTo(world.now);
    assertThat(world.operations()).isEmpty();
  }

  /** If the write of the status fails, only the operation still names the artifact. */
  @Test
  void theOperationIsKeptUntilTheStatusNamesItsArtifact() {
    fail();
    answer();
    agent().succeeds(WorkloadState.ENDED);
    world.agent(OperationType.END, 1).succeeds(WorkloadState.ENDED);
    world.cluster.pods.clear();
    world.turn();
    assertThat(world.condition("Ready")).startsWith("True/ArtifactVerified");
    assertThat(world.operation(OperationType.CHECKPOINT, 1)).isPresent();

    world.settle();
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void theOperationOfARemovedNodeIsKeptUntilTheStatusNamesItsArtifact() {
    Objects.requireNonNull(reported().getArtifact()).setNode(null);
    fail();
    world.cluster.nodes.clear();
    world.cluster.gpuNodes.clear();
    world.turn();
    assertThat(world.condition("Ready")).startsWith("True/ArtifactVerified");
    assertThat(world.operation(OperationType.CHECKPOINT, 1)).isPresent();
  }

  @Test
  void aHeldWorkloadWhosePodIsDeletedAfterTheFailureIsEnded() {
    world.evictAnswer = new PodWrites.Refused("would violate the budget", true);
    fail();
    assertThat(world.operation(OperationType.END, 1)).isEmpty();
    world.leave();
    world.settle();
    assertThat(world.operation(OperationType.END, 1)).isPresent();

    world
        .agent(OperationType.END, 1)
        .claims()
        .fails(Outcome.REFUSED, "PodNotDeleted", ConditionValue.FALSE);
    world.settle();
    assertThat(world.operation(OperationType.END, 1).orElseThrow().getStatus())
        .as("requested again")
        .isNull();
  }

  @Test
  void aWorkloadThatIsThawedAfterTheFailureHasNoReadyArtifact() {
    world.evictAnswer = new PodWrites.Refused("would violate the budget", true);
    fail();
    agent()
        .fails(Outcome.UNDONE, "DeadlineExceeded", ConditionValue.TRUE)
        .corrects(WorkloadState.RUNNING, ConditionValue.TRUE);
    answer();
    assertThat(world.condition("Ready")).startsWith("False/NodeSilent");
    assertThat(world.condition("SourceRunning")).startsWith("True/Thawed");
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void aThawedWorkloadThatIsBeingTerminatedMustEndBeforeItsArtifactIsReady() {
    fail();
    agent().failsButKeepsTheArtifact(Outcome.UNDONE, "DeadlineExceeded", WorkloadState.RUNNING);
    answer();
    assertThat(world.condition("Ready")).startsWith("False/NodeSilent");

    world
        .agent(OperationType.END, 1)
        .claims()
        .fails(Outcome.REFUSED, "NotHeld", ConditionValue.FALSE);
    world.cluster.pods.clear();
    world.settle();
    isRestorableThoughFailed("False/WorkloadLost");
  }

  /** After a reboot the agent names only an artifact whose bytes it has read. */
  @Test
  void aLostWorkloadWithoutAnArtifactIsNotReady() {
    fail();
    agent().fails(Outcome.LOST, "WorkloadGone", ConditionValue.FALSE);
    reported().setWorkload(WorkloadState.ENDED);
    reported().setArtifact(null);
    answer();
    assertThat(world.condition("Ready")).startsWith("False/NodeSilent");
    assertThat(world.condition("SourceRunning")).startsWith("False/WorkloadLost");
  }

  @Test
  void aSharedArtifactIsReadyOnceTheSilentNodeIsRemoved() {
    Objects.requireNonNull(reported().getArtifact()).setNode(null);
    fail();
    world.cluster.nodes.clear();
    world.cluster.gpuNodes.clear();
    world.settle();
    isRestorableThoughFailed("False/NodeGone: node gpu-17 is gone; its pod was removed");
  }

  @Test
  void anArtifactOnTheDiskOfARemovedNodeIsNotReady() {
    fail();
    world.cluster.nodes.clear();
    world.cluster.gpuNodes.clear();
    world.settle();
    assertThat(world.condition("Ready")).startsWith("False/NodeSilent");
    assertThat(world.operations()).isEmpty();
  }

  /** It would run beside the restored one: its agent thaws it if the node registers again. */
  @Test
  void aSharedArtifactOfAPodThatStaysIsNotReadyWithoutItsNode() {
    world.evictAnswer = new PodWrites.Refused("would violate the budget", true);
    Objects.requireNonNull(reported().getArtifact()).setNode(null);
    fail();
    world.cluster.nodes.clear();
    world.cluster.gpuNodes.clear();
    world.settle();
    assertThat(world.condition("Ready")).startsWith("False/NodeSilent");
  }
}
