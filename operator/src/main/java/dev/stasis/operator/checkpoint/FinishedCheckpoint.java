package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;

/** Follows what a finished GpuCheckpoint leaves behind: its operations and a raised limit. */
final class FinishedCheckpoint {

  private final CheckpointOperations operations;
  private final PostResumeCleanup cleanup;
  private final ThawFollowUp thaw;
  private final LateEviction late;

  FinishedCheckpoint(
      CheckpointOperations operations, PostResumeCleanup cleanup, ThawFollowUp thaw) {
    this.operations = operations;
    this.cleanup = cleanup;
    this.thaw = thaw;
    this.late = new LateEviction(operations);
  }

  void observe(CheckpointContext context) {
    context.operations().forEach(operation -> tidy(context, operation));
    Conditions known = context.conditions();
    if (known.find(ConditionType.ROOM_RETURNED).isPresent()
        && !known.isTrue(ConditionType.ROOM_RETURNED)) {
      cleanup.lowerLimit(context);
    }
  }

  /** Deletes a finished operation, and cancels any other. */
  private void tidy(CheckpointContext context, OperationView operation) {
    boolean continues =
        context.phase() == CheckpointPhase.READY
            ? operation.type() == OperationType.UPLOAD || operation.type() == OperationType.VERIFY
            : operation.type() == OperationType.VERIFY && context.isReadyThoughFailed();
    if (continues) {
      return;
    }
    if (late.handles(context, operation)) {
      return;
    }
    if (operation.isFinal()) {
      if (thaw.isOver(context, operation)) {
        operations.release(operation);
      }
    } else if (context.agent(operation).nodeGone()) {
      operations.abandon(operation);
    } else if (!operation.isCancelled()) {
      operations.cancel(operation);
    }
  }
}
