package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.DeletionPolicy;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The table of what a deletion does, line by line. */
class CheckpointFinalizerTest {

  private final World world = Samples.world(AfterCheckpoint.RESUME).settle();

  @Test
  void aDeletedCheckpointInProgressIsCancelledAndRolledBackFirst() {
    world.agent(OperationType.CHECKPOINT, 1).works("dump", WorkloadState.FROZEN);
    world.settle();
    world.delete();
    world.settle();
    assertThat(world.gone).isFalse();
    assertThat(world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getCancel())
        .isTrue();

    world
        .agent(OperationType.CHECKPOINT, 1)
        .fails(Outcome.UNDONE, "Cancelled", ConditionValue.TRUE);
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(world.operations()).isEmpty();
    assertThat(world.marks).last().matches(mark -> !mark.status());
  }

  @Test
  void anUnclaimedOperationIsWithdrawn() {
    world.delete();
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void aHeldWorkloadIsThawed() {
    World held = Samples.world(AfterCheckpoint.EVICT).settle();
    held.agent(OperationType.CHECKPOINT, 1).holds();
    held.delete();
    held.settle();
    assertThat(held.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getCancel())
        .isTrue();
    assertThat(held.operation(OperationType.END, 1)).isEmpty();

    held.agent(OperationType.CHECKPOINT, 1).fails(Outcome.UNDONE, "Cancelled", ConditionValue.TRUE);
    held.settle();
    assertThat(held.gone).isTrue();
  }

  @Test
  void aThawedPodThatItsJobHasReleasedIsReturnedToIt() {
    World held = Samples.world(AfterCheckpoint.EVICT);
    held.cluster.pods.set(
        0,
        new PodBuilder(Samples.pod())
            .editMetadata()
            .addNewOwnerReference()
            .withApiVersion("batch/v1")
            .withKind("Job")
            .withName("train")
            .withUid("job-1")
            .withController(true)
            .endOwnerReference()
            .endMetadata()
            .build());
    held.settle();
    held.agent(OperationType.CHECKPOINT, 1).holds();
    held.cluster.pods.set(0, Samples.pod());
    held.delete();
    held.settle();
    assertThat(held.look().acts()).noneMatch(Act.TakeBack.class::isInstance);

    held.agent(OperationType.CHECKPOINT, 1)
        .fails(Outcome.UNDONE, "Cancelled", ConditionValue.TRUE)
        .corrects(WorkloadState.RUNNING, ConditionValue.TRUE);
    assertThat(held.look().acts()).contains(new Act.TakeBack(Samples.pod()));
    held.settle();
    assertThat(held.gone).isTrue();
  }

  @Test
  void aReadyOneTakesItsArtifactWithIt() {
    ready();
    world.delete();
    world.settle();
    var order = world.operation(OperationType.DELETE_ARTIFACT, 1).orElseThrow().getSpec();
    assertThat(order.getNodeName()).isEqualTo("gpu-17");
    assertThat(Objects.requireNonNull(order.getArtifact()).location())
        .isEqualTo("ml/train-1-uid-1");
    assertThat(order.getPod()).isNull();
    assertThat(world.gone).isFalse();

    world.agent(OperationType.DELETE_ARTIFACT, 1).succeeds(WorkloadState.UNKNOWN);
    world.settle();
    assertThat(world.gone).isTrue();
  }

  @Test
  void anOperationThatTheWatchShowsLateIsNotTakenForAFailedOne() {
    ready();
    world.delete();
    world.settle();
    world.agent(OperationType.DELETE_ARTIFACT, 1).works("delete", WorkloadState.UNKNOWN);

    world.cluster.late =
        world.operation(OperationType.DELETE_ARTIFACT, 1).orElseThrow().getMetadata().getName();
    World.Reconciliation turn = world.look();
    assertThat(turn.acts())
        .hasAtLeastOneElementOfType(Act.Create.class)
        .noneMatch(Act.Release.class::isInstance);
    assertThat(turn.stories()).isEmpty();
  }

  @Test
  void anArtifactThatCannotBeDeletedIsTriedEverLessOftenAndTheObjectGoesInTheEnd() {
    ready();
    world.delete();
    List<Instant> tried = new ArrayList<>();
    Instant end = world.now.plus(Duration.ofMinutes(20));
    while (!world.gone && world.now.isBefore(end)) {
      world.cluster.gpuNodes.set(0, Samples.gpuNode("gpu-17", world.now));
      world.settle();
      world
          .operation(OperationType.DELETE_ARTIFACT, 1)
          .filter(order -> !OperationView.of(order).isFinal())
          .ifPresent(
              order -> {
                tried.add(world.now);
                world
                    .agent(OperationType.DELETE_ARTIFACT, 1)
                    .fails(Outcome.REFUSED, "ArtifactRefused", ConditionValue.UNKNOWN);
                order
                    .getStatus()
                    .setPhases(List.of(new PhaseTime<>(OperationPhase.FAILED, world.now)));
              });
      if (tried.size() == 3) {
        assertThat(world.condition("Ready"))
            .isEqualTo(
                "False/OperationFailed: the artifact is kept at ml/train-1-uid-1 in store local:"
                    + " said by the agent");
      }
      world.later(Duration.ofSeconds(1));
    }

    assertThat(world.gone).isTrue();
    assertThat(tried).hasSizeBetween(6, 14);
    assertThat(world.operations()).isEmpty();
    assertThat(world.stories).extracting(story -> story.reason()).contains(Reason.RELEASED);
  }

  /** An agent may have read the object while its artifact was to be deleted with it. */
  @Test
  void underRetainTheArtifactStaysAndItsAgentIsTold() {
    world.checkpoint.getSpec().getOptions().setDeletionPolicy(DeletionPolicy.RETAIN);
    ready();
    world.delete();
    world.settle();
    assertThat(world.gone).isFalse();
    var order = world.operation(OperationType.RETAIN_ARTIFACT, 1).orElseThrow().getSpec();
    assertThat(order.getNodeName()).isEqualTo("gpu-17");
    assertThat(Objects.requireNonNull(order.getArtifact()).location())
        .isEqualTo("ml/train-1-uid-1");

    world.agent(OperationType.RETAIN_ARTIFACT, 1).succeeds(WorkloadState.UNKNOWN);
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(world.operations()).isEmpty();
    assertThat(world.stories)
        .extracting(story -> story.reason())
        .contains(Reason.ARTIFACT_RETAINED)
        .doesNotContain(Reason.ARTIFACT_DELETED);
  }

  /** Its agent may have read before that the artifact is deleted with the object. */
  @Test
  void aRetainedArtifactKeepsItsObjectUntilAnAgentHasRecordedThat() {
    world.checkpoint.getSpec().getOptions().setDeletionPolicy(DeletionPolicy.RETAIN);
    ready();
    world.later(Duration.ofMinutes(5));
    world.delete();
    world.settle();
    world.later(Duration.ofHours(12));
    world.settle();
    assertThat(world.gone).isFalse();
    assertThat(world.condition("Ready"))
        .contains("WaitingForAgent: the artifact is retained; the object is deleted once");

    world.cluster.gpuNodes.set(0, Samples.gpuNode("gpu-17", world.now));
    world.settle();
    world.agent(OperationType.RETAIN_ARTIFACT, 1).succeeds(WorkloadState.UNKNOWN);
    world.settle();
    assertThat(world.gone).isTrue();
  }

  /** It falls silent after it has claimed the operation. */
  @Test
  void anAgentThatFallsSilentBeforeItRecordsARetainedArtifactIsAskedAgain() {
    world.checkpoint.getSpec().getOptions().setDeletionPolicy(DeletionPolicy.RETAIN);
    ready();
    world.delete();
    world.settle();
    world.agent(OperationType.RETAIN_ARTIFACT, 1).works("retain", WorkloadState.UNKNOWN);
    world.later(Duration.ofMinutes(20));
    world.settle();
    world.later(Duration.ofMinutes(20));
    world.settle();
    assertThat(world.gone).isFalse();

    world.cluster.gpuNodes.set(0, Samples.gpuNode("gpu-17", world.now));
    world.settle();
    world.agent(OperationType.RETAIN_ARTIFACT, 1).succeeds(WorkloadState.UNKNOWN);
    world.settle();
    assertThat(world.gone).isTrue();
  }

  /** It cannot write beside the artifact, for example because its disk is read-only. */
  @Test
  void aRetainedArtifactKeepsItsObjectWhileItsAgentFails() {
    assertThat(isReleasedAfter(Outcome.UNDONE, "StoreFailed")).isFalse();
  }

  /** Its sweep would delete the artifact once the store is mounted again. */
  @Test
  void aRetainedArtifactKeepsItsObjectWhileItsStoreIsNotMounted() {
    assertThat(isReleasedAfter(Outcome.REFUSED, "StoreNotWritable")).isFalse();
  }

  @Test
  void aRetainedArtifactThatIsOfAnotherObjectIsReleased() {
    assertThat(isReleasedAfter(Outcome.REFUSED, "ArtifactRefused")).isTrue();
  }

  private boolean isReleasedAfter(Outcome outcome, String reason) {
    world.checkpoint.getSpec().getOptions().setDeletionPolicy(DeletionPolicy.RETAIN);
    ready();
    world.delete();
    world.settle();
    world.later(Duration.ofMinutes(16));
    world.cluster.gpuNodes.set(0, Samples.gpuNode("gpu-17", world.now));
    world.agent(OperationType.RETAIN_ARTIFACT, 1).fails(outcome, reason, ConditionValue.UNKNOWN);
    world.settle();
    return world.gone;
  }

  @Test
  void aRetainedArtifactOfANodeThatStaysAwayIsReleased() {
    world.checkpoint.getSpec().getOptions().setDeletionPolicy(DeletionPolicy.RETAIN);
    ready();
    world.cluster.nodes.clear();
    world.cluster.gpuNodes.clear();
    world.delete();
    world.settle();
    assertThat(world.gone).isFalse();

    world.later(Duration.ofMinutes(16));
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(world.stories).extracting(story -> story.reason()).contains(Reason.RELEASED);
  }

  @Test
  void oneInUseWaitsAndSaysForWhat() {
    ready();
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        new ObjectMetaBuilder().withNamespace("ml").withName("back").withUid("r").build());
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of("train-1"));
    restore.setStatus(new GpuRestoreStatus());
    restore.getStatus().setPhase(RestorePhase.PENDING);
    world.cluster.restores.add(restore);
    world.settle();
    assertThat(Objects.requireNonNull(world.status().getInUseBy()).get(0).name()).isEqualTo("back");
    world.delete();
    world.settle();
    assertThat(world.gone).isFalse();
    assertThat(world.operations()).isEmpty();
    assertThat(world.stories)
        .extracting(story -> story.message())
        .contains("the artifact is needed by GpuRestore back; the object is deleted afterwards");

    restore.getStatus().setPhase(RestorePhase.FAILED);
    world.settle();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isPresent();
  }

  @Test
  void aNodeThatIsGoneIsNotWaitedFor() {
    ready();
    world.cluster.nodes.clear();
    world.cluster.gpuNodes.clear();
    world.delete();
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(world.stories).extracting(story -> story.reason()).contains(Reason.RELEASED);
  }

  @Test
  void anAgentThatIsSilentIsWaitedForAndThenReleased() {
    world.agent(OperationType.CHECKPOINT, 1).works("dump", WorkloadState.FROZEN);
    world.settle();
    world.later(Duration.ofMinutes(5));
    world.delete();
    world.settle();
    assertThat(world.gone).isFalse();

    world.later(Duration.ofMinutes(16));
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(world.operations()).isEmpty();
    assertThat(world.stories).extracting(story -> story.reason()).contains(Reason.RELEASED);
  }

  private void ready() {
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
  }
}
