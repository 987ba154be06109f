package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.status.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@SuppressWarnings("NullAway") // what is not there fails the test
class SourceFirstStepsTest {

  private final Moving moving = new Moving();
  private @Nullable GpuCheckpoint checkpoint;
  private @Nullable GpuRestore restore;
  private boolean namespaceGoes;

  @BeforeEach
  void saving() {
    moving.looked();
    moving.migration.getSpec().setStrategy(MigrationStrategy.RECREATE);
    checkpoint = new GpuCheckpoint();
    checkpoint.getMetadata().setName("off-uid");
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.setStatus(new GpuCheckpointStatus());
    saving(
        CheckpointPhase.SAVING,
        "Ready",
        ConditionValue.FALSE,
        "InProgress",
        "the agent is working on it");
  }

  @Test
  void theSourceIsSavedWhereATargetWouldBeMade() {
    assertThat(moving.next()).isInstanceOf(Next.Save.class);
    assertThat(next()).isInstanceOf(SourceFirstNext.Follow.class);
  }

  @Test
  void theMessageOfTheCheckpointIsReported() {
    assertThat(next())
        .isEqualTo(
            new SourceFirstNext.Follow(
                Reason.IN_PROGRESS, "GpuCheckpoint off-uid: the agent is working on it"));
  }

  @Test
  void aCancelReachesTheCheckpointOnce() {
    moving.migration.getSpec().getOptions().setCancel(true);
    assertThat(next()).isInstanceOf(SourceFirstNext.Stop.class);
    checkpoint.getSpec().getOptions().setCancel(true);
    assertThat(next()).isInstanceOf(SourceFirstNext.Follow.class);
  }

  @Test
  void theDeadlineUndoesTheFreeze() {
    moving.now = Moving.NOW.plus(Duration.ofHours(1));
    assertThat(((SourceFirstNext.Stop) next()).why()).isEqualTo("DeadlineExceeded");
  }

  @ParameterizedTest
  @EnumSource(
      value = CheckpointPhase.class,
      names = {"FAILED", "CANCELLED"})
  void aFreezeThatWasUndoneLeavesTheSourceRunning(CheckpointPhase phase) {
    saving(phase, "SourceRunning", ConditionValue.TRUE, "Thawed", "1 process RUNNING");
    assertThat(next()).isInstanceOf(SourceFirstNext.RollBack.class);
  }

  @Test
  void aCancelThatCameTooLateIsNoRollBack() {
    moving.migration.getSpec().getOptions().setCancel(true);
    saving(CheckpointPhase.READY, "SourceRunning", ConditionValue.FALSE, "Evicted", "removed");
    assertThat(next()).isInstanceOf(SourceFirstNext.Commit.class);
  }

  @Test
  void aFrozenSourceIsAwaited() {
    saving(
        CheckpointPhase.FAILED,
        "SourceRunning",
        ConditionValue.FALSE,
        "NotThawed",
        "it stands still");
    assertThat(next()).isEqualTo(new SourceFirstNext.Follow(Reason.NOT_THAWED, "it stands still"));
  }

  @Test
  void aSourceThatIsLostIsNeverCalledRolledBack() {
    saving(
        CheckpointPhase.FAILED,
        "SourceRunning",
        ConditionValue.FALSE,
        "WorkloadLost",
        "it has ended");
    assertThat(next()).isEqualTo(new SourceFirstNext.End(Reason.WORKLOAD_LOST, "it has ended"));
  }

  @Test
  void aCheckpointThatSomebodyDeletedHasThawedTheSource() {
    checkpoint = null;
    assertThat(next()).isInstanceOf(SourceFirstNext.RollBack.class);
    moving.source = null;
    assertThat(((SourceFirstNext.End) next()).reason()).isEqualTo(Reason.SOURCE_LOST);
  }

  @Test
  void onceTheSourceIsGoneNeitherCancelNorDeadlineUndoIt() {
    removed();
    moving.migration.getSpec().getOptions().setCancel(true);
    moving.now = Moving.NOW.plus(Duration.ofHours(1));
    assertThat(((SourceFirstNext.BringBack) next()).number()).isEqualTo(1);
  }

  @Test
  void aTargetWithoutANodeIsGivenUpAfterItsTime() {
    removed();
    restoring(RestorePhase.PENDING, "NoNodeFits");
    moving.now = Moving.NOW.plus(RestoreElsewhere.PLACE).minusSeconds(1);
    assertThat(next()).isInstanceOf(SourceFirstNext.Follow.class);
    moving.now = Moving.NOW.plus(RestoreElsewhere.PLACE);
    assertThat(next()).isInstanceOf(SourceFirstNext.GiveUp.class);
    restore.getSpec().getOptions().setCancel(true);
    assertThat(next()).isInstanceOf(SourceFirstNext.Follow.class);
  }

  @Test
  void aControllerThatTakesItsTimeIsWaitedFor() {
    removed();
    restoring(RestorePhase.PENDING, "OwnerLives");
    moving.now = Moving.NOW.plus(Duration.ofHours(1));
    assertThat(next()).isInstanceOf(SourceFirstNext.Follow.class);
  }

  @ParameterizedTest
  @EnumSource(
      value = RestorePhase.class,
      names = {"FAILED", "CANCELLED"})
  void aTargetThatFailsIsTriedOnceMoreAnywhere(RestorePhase phase) {
    removed();
    restoring(phase, "RestoreFailed");
    SourceFirstNext.BringBack again = (SourceFirstNext.BringBack) next();
    assertThat(again.number()).isEqualTo(2);
    assertThat(again.before()).singleElement().matches(it -> it.reason().equals("RestoreFailed"));

    moving.status().setRestore("off-uid-2");
    assertThat(((SourceFirstNext.End) next()).reason()).isEqualTo(Reason.RESTORE_FAILED);
  }

  @Test
  void aRestoreThatSomebodyDeletedIsMadeOnceMore() {
    removed();
    moving.status().setRestore("off-uid-1");
    assertThat(((SourceFirstNext.BringBack) next()).number()).isEqualTo(2);
  }

  @Test
  void theMigrationEndsIfNothingCanBeCreatedAnyMore() {
    removed();
    namespaceGoes = true;
    assertThat(((SourceFirstNext.End) next()).sentence())
        .contains("a namespace that is being deleted");
    namespaceGoes = false;
    checkpoint.getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    assertThat(((SourceFirstNext.End) next()).sentence()).contains("a deleted one");
  }

  @Test
  void aSecondRestoreThatWaitsGoesOnAloneWhenTheMigrationIsDeleted() {
    removed();
    moving.migration.getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    restoring(RestorePhase.PENDING, "NoNodeFits");
    assertThat(next()).isInstanceOf(SourceFirstNext.Follow.class);
    moving.status().setRestore("off-uid-2");
    assertThat(next()).isInstanceOf(SourceFirstNext.End.class);
    restoring(RestorePhase.RESTORING, "InProgress");
    moving.status().setRestore("off-uid-2");
    assertThat(next()).isInstanceOf(SourceFirstNext.Follow.class);
  }

  @Test
  void aProvenTargetIsTheEnd() {
    removed();
    restoring(RestorePhase.SUCCEEDED, "Proven");
    assertThat(next()).isEqualTo(new SourceFirstNext.Arrive());
  }

  private void removed() {
    saving(CheckpointPhase.READY, "SourceRunning", ConditionValue.FALSE, "Evicted", "removed");
    moving.decided(Decision.SWITCH_OVER);
    moving.status().setPhase(MigrationPhase.TRANSFERRING);
  }

  private void saving(
      CheckpointPhase phase, String type, ConditionValue truth, String reason, String message) {
    checkpoint.getStatus().setPhase(phase);
    checkpoint
        .getStatus()
        .setConditions(List.of(new Condition(type, truth, reason, message, Moving.NOW, 1L)));
  }

  private void restoring(RestorePhase phase, String reason) {
    moving.status().setRestore("off-uid-1");
    restore = new GpuRestore();
    restore.getMetadata().setName("off-uid-1");
    restore.getMetadata().setCreationTimestamp(Moving.NOW.toString());
    restore.setSpec(new GpuRestoreSpec());
    restore.setStatus(new GpuRestoreStatus());
    restore.getStatus().setPhase(phase);
    restore.getStatus().setPod(new ObservedPod("trainer", "target-uid", "main", "there"));
    restore
        .getStatus()
        .setConditions(
            List.of(new Condition("Succeeded", ConditionValue.FALSE, reason, "", Moving.NOW, 1L)));
  }

  private SourceFirstNext next() {
    moving.status().setCheckpoint("off-uid");
    moving.sourceFirst =
        new SourceFirstState(
            Optional.ofNullable(checkpoint),
            Optional.ofNullable(restore),
            Optional.empty(),
            namespaceGoes);
    return SourceFirstNext.of(moving.view());
  }
}
