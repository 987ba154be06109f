package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.migration.Decision;
import dev.stasis.api.v1alpha1.migration.MigrationOrder;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.restore.GpuRestoreSpec;
import dev.stasis.api.v1alpha1.restore.GpuRestoreStatus;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
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
class RelayDeciderTest {

  private final Moving moving = new Moving();
  private @Nullable GpuCheckpoint checkpoint;
  private @Nullable GpuRestore restore;
  private boolean namespaceGoes;

  @BeforeEach
  void saving() {
    moving.looked();
    moving.migration.getSpec().setOrder(MigrationOrder.SOURCE_FIRST);
    checkpoint = new GpuCheckpoint();
    checkpoint.getMetadata().setName("off-uid");
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.setStatus(new GpuCheckpointStatus());
    saving(CheckpointPhase.SAVING, "Ready", Truth.UNKNOWN, "InProgress", "the agent is at work");
  }

  @Test
  void theSourceIsSavedWhereATargetWouldBeMade() {
    assertThat(moving.next()).isInstanceOf(Next.Save.class);
    assertThat(RelayDecider.isOn(moving.view())).isFalse();
    moving.status().setCheckpoint("off-uid");
    assertThat(RelayDecider.isOn(moving.view())).isTrue();
  }

  @Test
  void whatTheCheckpointSaysIsSaidHere() {
    assertThat(next())
        .isEqualTo(
            new RelayNext.Follow(
                Reason.IN_PROGRESS, "GpuCheckpoint off-uid: the agent is at work"));
  }

  @Test
  void aCancelReachesTheCheckpointOnce() {
    moving.migration.getSpec().setCancel(true);
    assertThat(next()).isInstanceOf(RelayNext.Stop.class);
    checkpoint.getSpec().setCancel(true);
    assertThat(next()).isInstanceOf(RelayNext.Follow.class);
  }

  @Test
  void theDeadlineUndoesTheFreeze() {
    moving.now = Moving.NOW.plus(Duration.ofHours(1));
    assertThat(((RelayNext.Stop) next()).why().reason()).isEqualTo("DeadlineExceeded");
  }

  @ParameterizedTest
  @EnumSource(
      value = CheckpointPhase.class,
      names = {"FAILED", "CANCELLED"})
  void aFreezeThatWasUndoneLeavesTheSourceRunning(CheckpointPhase phase) {
    saving(phase, "SourceRunning", Truth.TRUE, "Thawed", "1 process RUNNING");
    assertThat(next()).isInstanceOf(RelayNext.RollBack.class);
  }

  @Test
  void aCancelThatCameTooLateIsNoRollBack() {
    moving.migration.getSpec().setCancel(true);
    saving(CheckpointPhase.READY, "SourceRunning", Truth.FALSE, "Evicted", "removed");
    assertThat(next()).isInstanceOf(RelayNext.Commit.class);
  }

  @Test
  void aSourceThatStillStandsStillIsWaitedFor() {
    saving(CheckpointPhase.FAILED, "SourceRunning", Truth.FALSE, "NotThawed", "it stands still");
    assertThat(next()).isEqualTo(new RelayNext.Follow(Reason.NOT_THAWED, "it stands still"));
  }

  @Test
  void aSourceThatIsLostIsNeverCalledRolledBack() {
    saving(CheckpointPhase.FAILED, "SourceRunning", Truth.FALSE, "WorkloadLost", "it has ended");
    assertThat(next()).isEqualTo(new RelayNext.End(Reason.WORKLOAD_LOST, "it has ended"));
  }

  @Test
  void aCheckpointThatSomebodyDeletedHasThawedTheSource() {
    checkpoint = null;
    assertThat(next()).isInstanceOf(RelayNext.RollBack.class);
    moving.source = null;
    assertThat(((RelayNext.End) next()).reason()).isEqualTo(Reason.SOURCE_LOST);
  }

  @Test
  void onceTheSourceIsGoneNeitherCancelNorDeadlineUndoIt() {
    removed();
    moving.migration.getSpec().setCancel(true);
    moving.now = Moving.NOW.plus(Duration.ofHours(1));
    assertThat(((RelayNext.BringBack) next()).number()).isEqualTo(1);
  }

  @Test
  void aPlaceThatDoesNotComeIsGivenUp() {
    removed();
    restoring(RestorePhase.PENDING, "NoNodeFits");
    moving.now = Moving.NOW.plus(RelayDecider.PLACE).minusSeconds(1);
    assertThat(next()).isInstanceOf(RelayNext.Follow.class);
    moving.now = Moving.NOW.plus(RelayDecider.PLACE);
    assertThat(next()).isInstanceOf(RelayNext.GiveUp.class);
    restore.getSpec().setCancel(true);
    assertThat(next()).isInstanceOf(RelayNext.Follow.class);
  }

  @Test
  void aControllerThatTakesItsTimeIsWaitedFor() {
    removed();
    restoring(RestorePhase.PENDING, "OwnerLives");
    moving.now = Moving.NOW.plus(Duration.ofHours(1));
    assertThat(next()).isInstanceOf(RelayNext.Follow.class);
  }

  @ParameterizedTest
  @EnumSource(
      value = RestorePhase.class,
      names = {"FAILED", "CANCELLED"})
  void aTargetThatFailsIsTriedOnceMoreAnywhere(RestorePhase phase) {
    removed();
    restoring(phase, "RestoreFailed");
    RelayNext.BringBack again = (RelayNext.BringBack) next();
    assertThat(again.number()).isEqualTo(2);
    assertThat(again.before()).singleElement().matches(it -> it.reason().equals("RestoreFailed"));

    moving.status().setRestore("off-uid-2");
    assertThat(((RelayNext.End) next()).reason()).isEqualTo(Reason.RESTORE_FAILED);
  }

  @Test
  void aRestoreThatSomebodyDeletedIsMadeOnceMore() {
    removed();
    moving.status().setRestore("off-uid-1");
    assertThat(((RelayNext.BringBack) next()).number()).isEqualTo(2);
  }

  @Test
  void whereNothingCanBeMadeAnyMoreItEnds() {
    removed();
    namespaceGoes = true;
    assertThat(((RelayNext.End) next()).sentence()).contains("the namespace is being deleted");
    namespaceGoes = false;
    checkpoint.getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    assertThat(((RelayNext.End) next()).sentence()).contains("it was deleted");
  }

  @Test
  void aSecondRestoreThatWaitsGoesOnAloneWhenTheMigrationIsDeleted() {
    removed();
    moving.migration.getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    restoring(RestorePhase.PENDING, "NoNodeFits");
    assertThat(next()).isInstanceOf(RelayNext.Follow.class);
    moving.status().setRestore("off-uid-2");
    assertThat(next()).isInstanceOf(RelayNext.End.class);
    restoring(RestorePhase.RESTORING, "InProgress");
    moving.status().setRestore("off-uid-2");
    assertThat(next()).isInstanceOf(RelayNext.Follow.class);
  }

  @Test
  void aProvenTargetIsTheEnd() {
    removed();
    restoring(RestorePhase.SUCCEEDED, "Proven");
    assertThat(next()).isEqualTo(new RelayNext.Arrive(restore));
  }

  private void removed() {
    saving(CheckpointPhase.READY, "SourceRunning", Truth.FALSE, "Evicted", "removed");
    moving.decided(Decision.SWITCH_OVER);
    moving.status().setPhase(MigrationPhase.TRANSFERRING);
  }

  private void saving(
      CheckpointPhase phase, String type, Truth truth, String reason, String message) {
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
    restore
        .getStatus()
        .setConditions(
            List.of(new Condition("Succeeded", Truth.UNKNOWN, reason, "", Moving.NOW, 1L)));
  }

  private RelayNext next() {
    moving.status().setCheckpoint("off-uid");
    return new RelayDecider()
        .next(
            new RelayView(
                moving.view(),
                Optional.ofNullable(checkpoint),
                Optional.ofNullable(restore),
                Optional.empty(),
                namespaceGoes));
  }
}
