package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What the report of a failed restore says about its target. */
class UndoneRestoreTest {

  /** An agent that could not end what it had restored may have left a second copy. */
  @Test
  void aTargetThatMayRunIsSeenToBeGoneBeforeTheThaw() {
    Moving moving = new Moving().restoring().decided(Decision.ROLL_BACK);
    moving.end(OperationType.RESTORE, 1, OperationPhase.FAILED);
    GpuNodeOperationStatus failed = moving.get(OperationType.RESTORE, 1).getStatus();
    failed.setOutcome(Outcome.NOT_UNDONE);
    failed.setWorkload(WorkloadState.UNKNOWN);
    Objects.requireNonNull(moving.target).getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    assertThat(moving.next()).isInstanceOf(Next.Wait.class);

    failed.setOutcome(Outcome.UNDONE);
    assertThat(moving.next()).isInstanceOf(Next.Wait.class);
    failed.setWorkload(WorkloadState.ENDED);
    assertThat(((Next.Decided) moving.next()).type()).isEqualTo(OperationType.THAW);
  }

  @Test
  void aTargetWhoseRestoreWasRefusedIsNotWaitedFor() {
    Moving moving = new Moving().restoring().decided(Decision.ROLL_BACK);
    moving.end(OperationType.RESTORE, 1, OperationPhase.FAILED);
    GpuNodeOperationStatus refused = moving.get(OperationType.RESTORE, 1).getStatus();
    refused.setOutcome(Outcome.REFUSED);
    Objects.requireNonNull(moving.target).getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    // Refused before the agent looked into the target.
    refused.setWorkload(null);
    assertThat(((Next.Decided) moving.next()).type()).isEqualTo(OperationType.THAW);

    refused.setWorkload(WorkloadState.WAITING);
    assertThat(((Next.Decided) moving.next()).type()).isEqualTo(OperationType.THAW);
    refused.setWorkload(WorkloadState.RUNNING);
    assertThat(moving.next()).isInstanceOf(Next.Wait.class);
  }
}
