package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A migration that was rolled back and ended before its source ran again. */
class FinishedMigrationTest {

  private final MigrationFakes fakes = new MigrationFakes();
  private final Moving moving = new Moving();

  @Test
  void aSourceThatIsStillHeldIsThawed() {
    failed(moving.held());
    assertThat(tidy()).isFalse();
    assertThat(fakes.acts).containsExactly(new Next.Decided(OperationType.THAW, 1));

    fakes.acts.clear();
    moving.operation(OperationType.THAW, 1, "here", OperationPhase.RUNNING);
    tidy();
    assertThat(fakes.acts).isEmpty();
  }

  @Test
  void aFreezeThatIsNotHeldYetIsCancelled() {
    failed(moving.freezing());
    tidy();
    assertThat(fakes.acts).hasSize(1).first().isInstanceOf(Next.Cancel.class);
  }

  @Test
  void anUnavailableAgentIsNotAskedToThaw() {
    failed(moving.held());
    moving.here = Moving.silent("here");
    tidy();
    moving.here = Moving.gone("here");
    tidy();
    assertThat(fakes.acts).isEmpty();
  }

  /** A Thaw whose number is used again would be tried again at once. */
  @Test
  void aFailedThawStaysUntilTheSourceRuns() {
    failed(moving.held());
    GpuNodeOperation thaw = moving.operation(OperationType.THAW, 1, "here", OperationPhase.FAILED);
    tidy();
    assertThat(fakes.acts).containsExactly(new Next.Decided(OperationType.THAW, 2));
    assertThat(fakes.released).doesNotContain(thaw);

    runs();
    tidy();
    tidy();
    assertThat(fakes.released).contains(thaw, moving.freeze());
  }

  @Test
  void aSourceThatRunsAgainIsReportedBeforeItsOperationIsDeleted() {
    failed(moving.held());
    runs();
    assertThat(tidy()).isFalse();
    assertThat(Conditions.of(moving.status()).isTrue(ConditionType.SOURCE_RUNNING)).isTrue();
    assertThat(fakes.released).isEmpty();

    assertThat(tidy()).isTrue();
    assertThat(fakes.released).contains(moving.freeze());
  }

  @Test
  void theRaisedLimitOfASourceThatRunsAgainIsToBeLowered() {
    failed(moving.held());
    moving.status().setRoom(new Room(2L, 1L, 2L, "1Gi", null));
    runs();
    tidy();
    assertThat(Conditions.of(moving.status()).isFalse(ConditionType.ROOM_RETURNED)).isTrue();
  }

  @Test
  void theDeletionWaitsForTheThaw() {
    failed(moving.held());
    GpuNodeOperation thaw = moving.operation(OperationType.THAW, 1, "here", OperationPhase.RUNNING);
    delete();
    assertThat(release()).isFalse();
    assertThat(fakes.abandoned).isEmpty();
    assertThat(fakes.released).doesNotContain(thaw);

    moving.now = Moving.NOW.plusSeconds(3600);
    release();
    assertThat(fakes.abandoned).contains(moving.freeze(), thaw);
  }

  @Test
  void theDeletionDoesNotWaitForASourceThatIsLost() {
    failed(moving.held());
    delete();
    moving.here = Moving.gone("here");
    release();
    assertThat(fakes.abandoned).isEqualTo(List.of(moving.freeze()));
  }

  private static void failed(Moving moving) {
    moving.decided(Decision.ROLL_BACK);
    moving.status().setPhase(MigrationPhase.FAILED);
    moving.target = null;
  }

  /** The agent has thawed the source. */
  private void runs() {
    moving.end(OperationType.CHECKPOINT, Work.FREEZE, OperationPhase.SUCCEEDED);
    moving.freeze().getStatus().setWorkload(WorkloadState.RUNNING);
  }

  private void delete() {
    moving.migration.getMetadata().setDeletionTimestamp(Moving.NOW.toString());
  }

  private boolean tidy() {
    return fakes.finished.tidy(moving.view());
  }

  private boolean release() {
    return fakes.finished.release(moving.view());
  }
}
