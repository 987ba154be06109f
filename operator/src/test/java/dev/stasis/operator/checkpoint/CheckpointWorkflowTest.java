package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.TcpConnections;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.api.v1beta1.store.Quota;
import dev.stasis.operator.pod.PodConditionUpdate;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** From the order to its end; every turn by an operator that has just started. */
class CheckpointWorkflowTest {

  private final World world = Samples.world(AfterCheckpoint.RESUME);

  @Test
  void aCheckpointGoesThroughItsPhasesAndEndsReady() {
    world.settle();
    for (String step : new String[] {"lock", "move", "dump"}) {
      world.agent(OperationType.CHECKPOINT, 1).works(step, WorkloadState.FROZEN);
      world.settle();
      assertThat(world.condition("SourceRunning")).startsWith("Unknown/Frozen");
    }
    assertThat(world.phase()).isEqualTo(CheckpointPhase.SAVING);
    world.agent(OperationType.CHECKPOINT, 1).works("fill", WorkloadState.FROZEN);
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();

    assertThat(Objects.requireNonNull(world.status().getPhases()).stream().map(PhaseTime::phase))
        .containsExactly(
            CheckpointPhase.PENDING,
            CheckpointPhase.FREEZING,
            CheckpointPhase.SAVING,
            CheckpointPhase.RESUMING,
            CheckpointPhase.READY);
    assertThat(world.condition("Ready")).isEqualTo("True/ArtifactVerified: 48.9Gi in store local");
    assertThat(world.condition("SourceRunning")).isEqualTo("True/Resumed: 2 processes RUNNING");
    assertThat(world.condition("Restorable")).isEqualTo("True/NodesFit: 1 of 1 node fits");
    assertThat(world.status().getReason()).isEqualTo("ArtifactVerified");
    assertThat(Objects.requireNonNull(world.status().getTimings()).getFrozen()).isEqualTo("14.1s");
    assertThat(world.status().getOperation()).isNull();
    assertThat(world.marks).extracting(PodConditionUpdate::status).containsExactly(true, false);
    assertThat(world.operations()).isEmpty();
    assertThat(world.stories)
        .extracting(story -> story.about().getKind() + " " + story.reason())
        .containsExactly("Pod FROZEN", "GpuCheckpoint ARTIFACT_VERIFIED", "Pod ARTIFACT_VERIFIED");
  }

  @Test
  void anOperatorThatMissedTheWholeCheckpointReportsItsEnd() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.checkpoint.setStatus(null);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(world.status().getPod()).isNotNull();
    assertThat(world.status().getPodTemplate()).isNotNull();
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void theStatusIsWrittenOnlyWhenItChanges() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).works("lock", WorkloadState.FROZEN);
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    int writes = world.writes;
    world.later(Duration.ofMinutes(2));
    world.settle();

    assertThat(writes).isLessThanOrEqualTo(4);
    assertThat(world.writes).isEqualTo(writes);
  }

  @Test
  void aReasonThatOnlyAgentsHaveStaysInTheFaults() {
    world.settle();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .works("dump", WorkloadState.FROZEN)
        .fails(Outcome.UNDONE, "AgentRestarted", ConditionValue.TRUE);
    world.settle();

    assertThat(world.condition("Failed")).startsWith("True/OperationFailed");
    assertThat(Objects.requireNonNull(world.status().getFaults()).get(0).reason())
        .isEqualTo("AgentRestarted");
    assertThat(world.condition("SourceRunning")).startsWith("True/Thawed");
  }

  @Test
  void aWorkloadThatDidNotComeBackIsSaidToBeLost() {
    world.settle();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .works("dump", WorkloadState.ENDED)
        .fails(Outcome.LOST, "WorkloadGone", ConditionValue.FALSE);
    world.settle();

    assertThat(world.condition("SourceRunning")).startsWith("False/WorkloadLost");
    assertThat(world.marks).last().matches(mark -> mark.reason().equals("WorkloadLost"));
  }

  @Test
  void aCancellationInProgressIsRolledBack() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).works("dump", WorkloadState.FROZEN);
    world.settle();
    world.checkpoint.getSpec().getOptions().setCancel(true);
    world.settle();
    assertThat(world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getCancel())
        .isTrue();

    world
        .agent(OperationType.CHECKPOINT, 1)
        .fails(Outcome.UNDONE, "Cancelled", ConditionValue.TRUE);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.CANCELLED);
    assertThat(world.condition("SourceRunning")).startsWith("True/Thawed");
    assertThat(world.condition("Failed")).isEqualTo("none");
  }

  @Test
  void anUnclaimedOperationIsWithdrawnAtTheDeadline() {
    world.settle();
    world.later(Duration.ofMinutes(31));
    world.settle();

    assertThat(world.operations()).isEmpty();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("Failed")).startsWith("True/DeadlineExceeded");
    assertThat(world.condition("SourceRunning")).startsWith("True/Untouched");
  }

  @Test
  void aNodeThatIsGoneTakesTheWorkloadWithIt() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).works("dump", WorkloadState.FROZEN);
    world.cluster.nodes.clear();
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("SourceRunning")).startsWith("False/NodeGone");
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void anAgentThatFallsSilentAtWorkIsNotBelievedAndNotGivenUpAtOnce() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).works("dump", WorkloadState.FROZEN);
    world.later(Duration.ofMinutes(4));
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.PENDING);
    assertThat(world.condition("Ready")).startsWith("False/NodeSilent");
    assertThat(world.condition("SourceRunning")).startsWith("Unknown/NodeSilent");

    world.later(Duration.ofMinutes(46));
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("SourceRunning")).startsWith("Unknown/NodeSilent");
  }

  @Test
  void aRemovedOperationIsNotCreatedAgain() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).works("dump", WorkloadState.FROZEN);
    world.settle();
    world.cluster.operations.clear();
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void restorableFollowsTheNodes() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    Objects.requireNonNull(world.cluster.gpuNodes.get(0).getStatus().getHost()).setDriver("570.9");
    world.settle();

    assertThat(world.condition("Restorable")).isEqualTo("False/NoNodeFits: 0 of 1 node fits");
    assertThat(world.condition("Ready")).startsWith("True/");
  }

  @Test
  void aNodeThatComesOrGoesIsNoWriteWhileTheAnswerStaysTheSame() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    int writes = world.writes;
    for (int i = 0; i < 5; i++) {
      world.cluster.gpuNodes.add(Samples.gpuNode("gpu-2" + i, world.now));
      world.settle();
    }
    assertThat(world.writes).isEqualTo(writes);

    Objects.requireNonNull(world.cluster.gpuNodes.get(0).getStatus().getHost()).setDriver("570.9");
    world.settle();
    assertThat(world.writes).isEqualTo(writes + 1);
    assertThat(world.condition("Restorable")).startsWith("False/NoNodeFits");
  }

  @Test
  void oneThatIsBoundToItsPodIsReadyAndNotRestorable() {
    world.settle();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .succeeds(WorkloadState.RUNNING)
        .findsTheWorkloadBoundToItsPod();
    world.settle();

    assertThat(world.condition("Ready")).startsWith("True/ArtifactVerified");
    assertThat(world.condition("SourceRunning")).startsWith("True/Resumed");
    assertThat(world.condition("Restorable"))
        .isEqualTo("False/NotPortable: socket address: expected 0.0.0.0, got" + " 10.1.2.3:29500");
    assertThat(world.status().getNodesFit()).isZero();

    world.checkpoint.getSpec().getOptions().setTcpConnections(TcpConnections.RESTORE);
    world.settle();
    assertThat(world.condition("Restorable")).startsWith("True/NodesFit");
  }

  @Test
  void requireRestorableIsPassedToTheAgent() {
    assertThat(ordered(world).getRequireRestorable()).isFalse();
    World strict = Samples.world(AfterCheckpoint.RESUME);
    strict.checkpoint.getSpec().getOptions().setRequireRestorable(true);
    assertThat(ordered(strict).getRequireRestorable()).isTrue();
    assertThat(ordered(Samples.world(AfterCheckpoint.EVICT)).getAfterwards())
        .isEqualTo(Afterwards.HOLD);
  }

  private static FreezeOrder ordered(World world) {
    world.settle();
    return Objects.requireNonNull(
        world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getFreeze());
  }

  @Test
  void anEvictionOfOneThatIsBoundToItsPodLeavesItAlone() {
    World evicting = Samples.world(AfterCheckpoint.EVICT);
    evicting.settle();
    evicting
        .agent(OperationType.CHECKPOINT, 1)
        .claims()
        .fails(Outcome.REFUSED, "NotPortable", ConditionValue.TRUE);
    evicting.settle();

    assertThat(evicting.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(evicting.condition("Failed")).startsWith("True/NotPortable");
    assertThat(evicting.condition("SourceRunning")).startsWith("True/Untouched");
    assertThat(evicting.marks).allMatch(mark -> !mark.status());
  }

  @Test
  void aReadyOneIsDeletedWhenItsTimeIsOver() {
    world.checkpoint.getSpec().getOptions().setTtlAfterReady(TimeSpan.of("10m"));
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    assertThat(world.again).isEqualTo(Duration.ofMinutes(10));

    world.later(Duration.ofMinutes(10));
    world.turn();
    assertThat(world.checkpoint.getMetadata().getDeletionTimestamp()).isNotNull();
  }

  @Test
  void aCancellationBeforeTheFreezeReportsAnUntouchedWorkload() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).claims();
    world.checkpoint.getSpec().getOptions().setCancel(true);
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).ends(OperationPhase.CANCELLED, Outcome.UNDONE);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.CANCELLED);
    assertThat(world.condition("SourceRunning")).startsWith("True/Untouched");
  }

  @Test
  void inANamespaceThatGoesAFreezeIsUndone() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).claims();
    world.cluster.namespace =
        new NamespaceBuilder()
            .withNewMetadata()
            .withName(world.checkpoint.getMetadata().getNamespace())
            .withDeletionTimestamp("2026-11-21T10:00:00Z")
            .endMetadata()
            .build();
    world.settle();
    assertThat(world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getCancel())
        .isTrue();
    world.agent(OperationType.CHECKPOINT, 1).ends(OperationPhase.CANCELLED, Outcome.UNDONE);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.CANCELLED);
  }

  @Test
  void anArtifactThatWillNotFitIsRefusedBeforeTheFreeze() {
    world.cluster.stores.get(0).getSpec().setQuota(new Quota(new Quantity("1Gi"), null, null));
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).expects(2L << 30);
    world.settle();
    assertThat(world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getCancel())
        .isTrue();
    world.agent(OperationType.CHECKPOINT, 1).ends(OperationPhase.CANCELLED, Outcome.UNDONE);
    world.settle();

    assertThat(world.condition("Failed")).startsWith("True/QuotaExceeded: store local quota.total");
  }
}
