package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.NodeVerdict;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway") // what is not there fails the test
class DeciderTest {

  private final Moving moving = new Moving();

  @Test
  void theAgentInspectsThePodFirst() {
    assertThat(moving.next()).isInstanceOf(Next.WorkloadInspector.class);
  }

  @Test
  void aFaultOfTheAgentEndsTheMigrationBeforeATargetExists() {
    moving.looked();
    moving
        .get(OperationType.CHECKPOINT, Work.LOOK)
        .getStatus()
        .setFaults(List.of(Moving.fault("PreflightRefused")));

    assertThat(moving.next()).isInstanceOf(Next.RollBack.class);
  }

  @Test
  void withoutANodeItWaitsWithTheReasons() {
    moving.looked();
    moving.places =
        new NodeVerdicts(
            List.of(new NodeVerdict("there", false, List.of("gpu.model: expected a, got b"))));

    Next.Wait wait = (Next.Wait) moving.next();

    assertThat(wait.reason()).isEqualTo(Reason.NO_NODE_FITS);
    assertThat(wait.sentence()).isEqualTo("0 of 1 node fits: there: gpu.model: expected a, got b");
  }

  @Test
  void itWaitsForItsTurn() {
    moving.looked();
    moving.turn = "migrations in the cluster: expected fewer than 1, got 1";

    assertThat(((Next.Wait) moving.next()).reason()).isEqualTo(Reason.TOO_MANY_MIGRATIONS);
  }

  @Test
  void theTargetIsThereBeforeTheSourceIsTouched() {
    moving.looked();
    assertThat(moving.next()).isInstanceOf(Next.Make.class);

    moving.holding();
    moving.target =
        new PodBuilder(Objects.requireNonNull(moving.target))
            .editStatus()
            .editFirstContainerStatus()
            .withNewState()
            .withNewWaiting()
            .withReason("ContainerCreating")
            .endWaiting()
            .endState()
            .endContainerStatus()
            .endStatus()
            .build();
    assertThat(((Next.Wait) moving.next()).phase()).isEqualTo(MigrationPhase.TARGET_STARTING);

    moving.target = Moving.pod("trainer-x", "target-uid", "there", "containerd://def");
    assertThat(moving.next()).isInstanceOf(Next.Receive.class);
    assertThat(moving.connected().next()).isInstanceOf(Next.Freeze.class);
  }

  @Test
  void theGpusOfTheTargetAreComparedBeforeTheSourceIsTouched() {
    moving.holding().operations.remove(OperationType.RESTORE + "-" + (Work.FIT + 1));
    assertThat(moving.next()).isInstanceOf(Next.Fit.class);

    moving.operation(OperationType.RESTORE, Work.FIT + 1, "there", OperationPhase.RUNNING);
    assertThat(((Next.Wait) moving.next()).phase()).isEqualTo(MigrationPhase.TARGET_STARTING);

    moving.end(OperationType.RESTORE, Work.FIT + 1, OperationPhase.FAILED);
    moving
        .get(OperationType.RESTORE, Work.FIT + 1)
        .getStatus()
        .setFaults(List.of(Moving.fault("Incompatible")));
    Next.Another another = (Next.Another) moving.next();
    assertThat(another.excludesNode()).isTrue();

    moving.status().setAttempts(Decider.ATTEMPTS);
    moving.operation(
        OperationType.RESTORE, Work.FIT + Decider.ATTEMPTS, "there", OperationPhase.FAILED);
    moving
        .get(OperationType.RESTORE, Work.FIT + Decider.ATTEMPTS)
        .getStatus()
        .setFaults(List.of(Moving.fault("Incompatible")));
    assertThat(moving.next()).isInstanceOf(Next.RollBack.class);
  }

  @Test
  void aTargetThatIsLostBeforeTheFreezeIsRecreated() {
    moving.holding();
    moving.target = null;
    assertThat(moving.next()).isInstanceOf(Next.Another.class);

    moving.status().setAttempts(Decider.ATTEMPTS);
    assertThat(moving.next()).isInstanceOf(Next.RollBack.class);
  }

  @Test
  void itGoesFromTheFreezeToTheDecision() {
    assertThat(((Next.Wait) moving.freezing().next()).phase()).isEqualTo(MigrationPhase.FREEZING);
    assertThat(moving.held().next()).isInstanceOf(Next.Receive.class);

    moving.operation(OperationType.RECEIVE, 1, "there", OperationPhase.RUNNING);
    assertThat(((Next.Wait) moving.next()).phase()).isEqualTo(MigrationPhase.TRANSFERRING);
    moving.get(OperationType.RECEIVE, 1).getStatus().setListening("10.0.0.2:8743");
    Next.Send send = (Next.Send) moving.next();
    assertThat(send.address()).isEqualTo("10.0.0.2:8743");

    moving.sending();
    moving.end(OperationType.RECEIVE, 1, OperationPhase.SUCCEEDED);
    moving.get(OperationType.RECEIVE, 1).getStatus().setArtifact(Moving.artifact("there"));
    assertThat(moving.next()).isInstanceOf(Next.Restore.class);

    moving.restoring();
    assertThat(((Next.Wait) moving.next()).phase()).isEqualTo(MigrationPhase.RESTORING);
    moving.get(OperationType.RESTORE, 1).getStatus().setStep("prove");
    assertThat(((Next.Wait) moving.next()).phase()).isEqualTo(MigrationPhase.VERIFYING);
    assertThat(moving.proven().next()).isInstanceOf(Next.SwitchOver.class);
  }

  /** The target is deleted next, and its log with it. */
  @Test
  void aWorkloadThatEndedInItsTargetIsReportedWithItsExitCode() {
    moving.restoring();
    moving.end(OperationType.RESTORE, 1, OperationPhase.FAILED);
    GpuNodeOperationStatus failed = moving.get(OperationType.RESTORE, 1).getStatus();
    failed.setFaults(List.of(Moving.fault("NotProven")));
    failed.setPhases(List.of(new PhaseTime<>(OperationPhase.FAILED, Moving.NOW)));
    assertThat(moving.next()).isInstanceOf(Next.Wait.class);

    moving.target = ended();
    assertThat(((Next.RollBack) moving.next()).faults())
        .extracting(Fault::message)
        .containsExactly("it failed: NotProven; container main exited with code 3");
  }

  @Test
  void throughAStoreThatBothReachNothingIsSent() {
    moving.held();
    Objects.requireNonNull(moving.freeze().getStatus().getArtifact()).setNode(null);

    assertThat(moving.next()).isInstanceOf(Next.Restore.class);
  }

  @Test
  void aBrokenTransferIsRepeatedWithTheCurrentKeys() {
    moving.sending();
    moving.end(OperationType.SEND, 1, OperationPhase.FAILED);

    assertThat(moving.next()).isInstanceOf(Next.Cancel.class);
    moving.get(OperationType.RECEIVE, 1).getSpec().setCancel(true);
    assertThat(((Next.Wait) moving.next()).reason()).isEqualTo(Reason.TRANSFER_FAILED);
    moving.end(OperationType.RECEIVE, 1, OperationPhase.CANCELLED);
    assertThat(((Next.Receive) moving.next()).number()).isEqualTo(2);

    moving.operation(OperationType.RECEIVE, TransferArtifact.TRIES, "there", OperationPhase.FAILED);
    assertThat(moving.next()).isInstanceOf(Next.RollBack.class);
  }

  @Test
  void theReasonIsThatOfTheFailedOperationNotOfTheCancelledOne() {
    moving.sending();
    int last = TransferArtifact.TRIES;
    moving.operation(OperationType.RECEIVE, last, "there", OperationPhase.FAILED);
    moving
        .get(OperationType.RECEIVE, last)
        .getStatus()
        .setFaults(List.of(Moving.fault("TransferFailed")));
    moving.operation(OperationType.SEND, last, "here", OperationPhase.CANCELLED);
    moving.get(OperationType.SEND, last).getSpec().setCancel(true);
    moving.get(OperationType.SEND, last).getStatus().setFaults(List.of(Moving.fault("Cancelled")));

    Next.RollBack back = (Next.RollBack) moving.next();
    assertThat(back.faults().get(0).reason()).isEqualTo("TransferFailed");
  }

  @Test
  void anAgentWithANewKeyIsNotWaitedFor() {
    moving.sending();
    moving
        .get(OperationType.SEND, 1)
        .getSpec()
        .getTransfer()
        .setPeer(new dev.stasis.api.v1beta1.operation.Peer("there", null, "key of before"));

    assertThat(((Next.Cancel) moving.next()).operation().type()).isEqualTo(OperationType.SEND);
  }

  @Test
  void aFreezeThatOutlastsTheProbesIsRolledBack() {
    moving.sending();
    moving.freeze().getSpec().getFreeze().setMaxFrozen(TimeSpan.of("20s"));
    moving.now = Moving.NOW.plusSeconds(19);
    assertThat(moving.next()).isInstanceOf(Next.Wait.class);

    moving.now = Moving.NOW.plusSeconds(21);
    Next.RollBack back = (Next.RollBack) moving.next();
    assertThat(back.faults().get(0).reason()).isEqualTo("ProbeTooShort");
  }

  @Test
  void aSourceThatCannotBeThawedAnyMoreGoesOnToTheTarget() {
    moving.restoring();
    Pod deleted = moving.source();
    deleted.getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    moving.migration.getSpec().getOptions().setCancel(true);

    assertThat(moving.next()).isInstanceOf(Next.Wait.class);
    assertThat(moving.proven().next()).isInstanceOf(Next.SwitchOver.class);
  }

  @Test
  void aVerifiedTargetThatIsBeingDeletedIsRolledBack() {
    moving.proven();
    Objects.requireNonNull(moving.target).getMetadata().setDeletionTimestamp(Moving.NOW.toString());

    assertThat(moving.next()).isInstanceOf(Next.RollBack.class);
  }

  /** Its container was started from its image: the frozen source has the state. */
  @Test
  void aVerifiedTargetWhoseWorkloadEndedIsRolledBack() {
    moving.proven();
    moving.target = ended();
    assertThat(((Next.RollBack) moving.next()).faults())
        .extracting(Fault::reason)
        .containsExactly("RestoreFailed");

    moving.target =
        new PodBuilder(Moving.pod("trainer-x", "target-uid", "there", "containerd://new"))
            .editStatus()
            .editFirstContainerStatus()
            .withRestartCount(1)
            .endContainerStatus()
            .endStatus()
            .build();
    assertThat(moving.next()).isInstanceOf(Next.RollBack.class);

    // Nothing is left that could be thawed.
    moving.source().getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    assertThat(moving.next()).isInstanceOf(Next.SwitchOver.class);
  }

  @Test
  void theArtifactsOfAWorkloadThatEndedInItsTargetAreKept() {
    moving.proven().decided(Decision.SWITCH_OVER);
    moving.source = null;
    moving.end(OperationType.CHECKPOINT, Work.FREEZE, OperationPhase.SUCCEEDED);
    assertThat(moving.next()).isInstanceOf(Next.Delete.class);

    moving.target = ended();
    assertThat(moving.next()).isInstanceOf(Next.Succeed.class);
    moving.target = null;
    assertThat(moving.next()).isInstanceOf(Next.Succeed.class);
  }

  @Test
  void aTargetThatIsGoneIsNotSaidToRun() {
    moving.proven().decided(Decision.SWITCH_OVER);
    moving.target = null;

    new MigrationFakes().targetFirst().completed(moving.view());

    assertThat(moving.status().getPhase()).isEqualTo(MigrationPhase.SUCCEEDED);
    assertThat(moving.status().getMessage())
        .startsWith("pod trainer-x was verified on node there and has ended since");
  }

  @Test
  void theControllerTakesTheTargetBeforeTheSourceGoes() {
    Moving moving = new Moving().proven().decided(Decision.SWITCH_OVER);
    moving.owner = new OwnerReferenceBuilder().withKind("ReplicaSet").withName("trainer").build();
    assertThat(moving.next()).isInstanceOf(Next.HandOver.class);

    moving.owner = null;
    assertThat(moving.next()).isInstanceOf(Next.RemoveSource.class);
  }

  @Test
  void aControllerThatNeverTakesItIsNotWaitedForForEver() {
    Moving moving = new Moving().proven().decided(Decision.SWITCH_OVER);
    moving.owner = new OwnerReferenceBuilder().withKind("Job").withName("trainer").build();
    moving.now = moving.now.plus(Duration.ofMinutes(3));
    assertThat(moving.next()).isInstanceOf(Next.RemoveSource.class);
  }

  /** Its labels could not be changed until then: the controller would start a cold pod. */
  @Test
  void aTargetWithoutTheLabelsIsHandedOverHoweverLongThatTakes() {
    Moving moving = new Moving().proven().decided(Decision.SWITCH_OVER);
    moving.owner = new OwnerReferenceBuilder().withKind("ReplicaSet").withName("trainer").build();
    moving.source().getMetadata().setLabels(Map.of("app", "trainer"));
    moving.now = moving.now.plus(Duration.ofMinutes(3));
    assertThat(moving.next()).isInstanceOf(Next.HandOver.class);

    Objects.requireNonNull(moving.target).getMetadata().setLabels(Map.of("app", "trainer"));
    assertThat(moving.next()).isInstanceOf(Next.RemoveSource.class);
  }

  private Pod ended() {
    return new PodBuilder(moving.target)
        .editStatus()
        .editFirstContainerStatus()
        .withNewState()
        .withNewTerminated()
        .withExitCode(3)
        .endTerminated()
        .endState()
        .endContainerStatus()
        .endStatus()
        .build();
  }
}
