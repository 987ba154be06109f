package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Never end a workload whose pod still exists; never thaw one whose pod is being deleted. */
class EvictionTest {

  private final World world = Samples.world(AfterCheckpoint.EVICT).settle();

  @Test
  void theTreeIsEndedOnlyOnceThePodIsBeingDeleted() {
    world.agent(OperationType.CHECKPOINT, 1).holds();
    assertThat(world.operation(OperationType.END, 1)).isEmpty();
    world.turn();
    assertThat(world.asked).last().isEqualTo(new Question.Evict(Samples.pod(), false));
    assertThat(world.operation(OperationType.END, 1)).isEmpty();
    world.settle();

    var end = world.operation(OperationType.END, 1).orElseThrow().getSpec();
    assertThat(end.getOfOperation()).isEqualTo("ckpt-uid-1-checkpoint-1");
    assertThat(world.phase()).isEqualTo(CheckpointPhase.SAVING);

    world.agent(OperationType.END, 1).succeeds(WorkloadState.ENDED);
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.ENDED);
    world.cluster.pods.clear();
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(world.condition("Ready")).startsWith("True/ArtifactVerified");
    assertThat(world.condition("SourceRunning")).startsWith("False/Evicted");
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void aRefusedEvictionIsTriedAgainAndThawedAtTheDeadline() {
    world.agent(OperationType.CHECKPOINT, 1).holds();
    world.evictAnswer = new PodWrites.Refused("would violate the budget", true);
    world.settle();
    assertThat(world.condition("Ready"))
        .isEqualTo("False/EvictionRefused: would violate the budget");
    assertThat(world.operations()).hasSize(1);

    world.later(Duration.ofMinutes(31));
    world.cluster.gpuNodes.set(0, Samples.gpuNode("gpu-17", world.now));
    int asked = world.asked.size();
    world.settle();
    assertThat(world.asked).hasSize(asked);
    world
        .agent(OperationType.CHECKPOINT, 1)
        .fails(Outcome.UNDONE, "DeadlineExceeded", ConditionValue.TRUE);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("Failed"))
        .startsWith("True/EvictionRefused")
        .contains("would violate the budget");
    assertThat(world.condition("SourceRunning")).startsWith("True/Thawed");
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void aCancelBeforeTheEvictionThaws() {
    world.agent(OperationType.CHECKPOINT, 1).holds();
    world.checkpoint.getSpec().getOptions().setCancel(true);
    world.settle();
    assertThat(world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getCancel())
        .isTrue();
    assertThat(world.asked).hasSize(1);

    world
        .agent(OperationType.CHECKPOINT, 1)
        .fails(Outcome.UNDONE, "Cancelled", ConditionValue.TRUE);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.CANCELLED);
    assertThat(world.condition("SourceRunning")).startsWith("True/Thawed");
  }

  @Test
  void aCancelAfterThePodIsBeingDeletedComesTooLate() {
    world.agent(OperationType.CHECKPOINT, 1).holds();
    world.settle();
    world.checkpoint.getSpec().getOptions().setCancel(true);
    world.settle();

    assertThat(world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getCancel())
        .isFalse();
    assertThat(world.operation(OperationType.END, 1)).isPresent();
  }

  @Test
  void aPodThatSomebodyElseEvictsIsNotEvictedByUs() {
    World drained =
        Samples.world(AfterCheckpoint.EVICT, Map.of(Api.EVICT_SINCE_ANNOTATION, "2026")).settle();
    assertThat(drained.asked).isEmpty();
    drained.agent(OperationType.CHECKPOINT, 1).holds();
    drained.settle();
    assertThat(drained.asked).isEmpty();
    assertThat(drained.condition("Ready")).startsWith("False/WaitingForEviction");

    drained.leave();
    drained.settle();
    assertThat(drained.operation(OperationType.END, 1)).isPresent();
  }

  @Test
  void anEndThatCameTooEarlyIsOrderedOnceMore() {
    world.agent(OperationType.CHECKPOINT, 1).holds();
    world.settle();
    world
        .agent(OperationType.END, 1)
        .claims()
        .fails(Outcome.REFUSED, "PodNotDeleted", ConditionValue.FALSE);
    world.settle();

    assertThat(world.operation(OperationType.END, 1).orElseThrow().getStatus()).isNull();
  }

  @Test
  void theOnlyCopyOfAnEvictedWorkloadStaysWhateverTheDefault() {
    evicted();
    world.delete();
    world.settle();
    world.agent(OperationType.RETAIN_ARTIFACT, 1).succeeds(WorkloadState.UNKNOWN);
    world.settle();

    assertThat(world.gone).isTrue();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isEmpty();
    assertThat(world.stories)
        .extracting(story -> story.reason())
        .contains(Reason.ARTIFACT_RETAINED);
  }

  @Test
  void aRestoreOfAnEarlierCheckpointWithItsNameLeavesTheOnlyCopy() {
    evicted();
    world.cluster.restores.add(succeeded(World.START.minusSeconds(60)));
    world.delete();
    world.settle();

    assertThat(world.operation(OperationType.RETAIN_ARTIFACT, 1)).isPresent();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isEmpty();
  }

  @Test
  void theArtifactOfAnEvictedWorkloadThatWasRestoredIsDeleted() {
    evicted();
    world.cluster.restores.add(succeeded(World.START.plusSeconds(60)));
    world.delete();
    world.settle();

    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isPresent();
  }

  @Test
  void theOnlyCopyOutlivesItsTimeUntilTheWorkloadIsRestored() {
    world.checkpoint.getSpec().getOptions().setTtlAfterReady(TimeSpan.of("10m"));
    evicted();
    world.later(Duration.ofMinutes(10));
    world.turn();
    assertThat(world.checkpoint.getMetadata().getDeletionTimestamp()).isNull();

    world.cluster.restores.add(succeeded(world.now));
    world.turn();
    assertThat(world.checkpoint.getMetadata().getDeletionTimestamp()).isNotNull();
  }

  private void evicted() {
    world.agent(OperationType.CHECKPOINT, 1).holds();
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.ENDED);
    world.agent(OperationType.END, 1).succeeds(WorkloadState.ENDED);
    world.cluster.pods.clear();
    world.settle();
  }

  private static GpuRestore succeeded(Instant time) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        new ObjectMetaBuilder().withNamespace("ml").withName("back").withUid("r").build());
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of("train-1"));
    restore.setStatus(new GpuRestoreStatus());
    restore.getStatus().setPhase(RestorePhase.SUCCEEDED);
    restore.getStatus().setPhases(List.of(new PhaseTime<>(RestorePhase.SUCCEEDED, time)));
    return restore;
  }

  @Test
  void aNamespaceThatEndsDuringTheEvictionLeavesTheOnlyCopy() {
    world.agent(OperationType.CHECKPOINT, 1).holds();
    world.settle();
    world.delete();
    world.settle();
    world.agent(OperationType.END, 1).succeeds(WorkloadState.ENDED);
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.ENDED);
    world.cluster.pods.clear();
    world.settle();
    world.agent(OperationType.RETAIN_ARTIFACT, 1).succeeds(WorkloadState.UNKNOWN);
    world.settle();

    assertThat(world.gone).isTrue();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isEmpty();
  }

  @Test
  void theArtifactOfAPodThatIsLostAfterItsEvictionIsReadyAndStays() {
    world.agent(OperationType.CHECKPOINT, 1).holds();
    world.settle();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .failsButKeepsTheArtifact(Outcome.LOST, "WorkloadGone", WorkloadState.ENDED);
    world.settle();
    isReadyAndStays();
  }

  /** The agent thawed it at the deadline while its eviction was accepted. */
  @Test
  void theArtifactOfAPodThatIsEvictedWhileItIsThawedIsReadyAndStays() {
    world.agent(OperationType.CHECKPOINT, 1).holds();
    world.settle();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .failsButKeepsTheArtifact(Outcome.UNDONE, "DeadlineExceeded", WorkloadState.RUNNING);
    world.settle();
    assertThat(world.phase())
        .as("its restore would run beside it")
        .isEqualTo(CheckpointPhase.SAVING);
    assertThat(world.operation(OperationType.CHECKPOINT, 1)).isPresent();

    world.cluster.pods.clear();
    world.settle();
    isReadyAndStays();
  }

  private void isReadyAndStays() {
    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(world.condition("Ready")).startsWith("True/ArtifactVerified");
    assertThat(world.condition("SourceRunning")).startsWith("False/Evicted");
    assertThat(world.status().getFaults()).isNull();
    world
        .agent(OperationType.END, 1)
        .claims()
        .fails(Outcome.REFUSED, "NotHeld", ConditionValue.FALSE);
    world.cluster.pods.clear();
    world.delete();
    world.settle();
    world.agent(OperationType.RETAIN_ARTIFACT, 1).succeeds(WorkloadState.UNKNOWN);
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isEmpty();
  }

  @Test
  void aFailedFreezeOfAPodThatStaysIsNoEviction() {
    world.agent(OperationType.CHECKPOINT, 1).holds();
    world.evictAnswer = new PodWrites.Refused("would violate the budget", true);
    world.settle();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .failsButKeepsTheArtifact(Outcome.UNDONE, "DeadlineExceeded", WorkloadState.RUNNING);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("SourceRunning")).startsWith("True/Thawed");

    world.delete();
    world.settle();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isPresent();
  }

  /** It failed before its pod was deleted, so no eviction was reported. */
  @Test
  void theArtifactOfAFailedEvictionStaysOnceThePodIsGone() {
    world.agent(OperationType.CHECKPOINT, 1).holds();
    world.evictAnswer = new PodWrites.Refused("would violate the budget", true);
    world.settle();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .failsButKeepsTheArtifact(Outcome.UNDONE, "DeadlineExceeded", WorkloadState.RUNNING);
    world.settle();
    world.cluster.pods.clear();
    world.delete();
    world.settle();
    world.agent(OperationType.RETAIN_ARTIFACT, 1).succeeds(WorkloadState.UNKNOWN);
    world.settle();

    assertThat(world.gone).isTrue();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isEmpty();
    assertThat(world.stories)
        .extracting(story -> story.reason())
        .contains(Reason.ARTIFACT_RETAINED);
  }
}
