package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.RequesterKind;
import java.util.Optional;

/**
 * One freeze of a GpuCheckpoint. A workload can be suspended any number of times. An artifact is
 * written only the first time, and only if the checkpoint has a store.
 *
 * @param type Checkpoint or Suspend
 * @param number its number, from 1
 * @param writes whether an artifact is written, or would be
 */
record FreezeAttempt(OperationType type, int number, boolean writes) {

  /** Returns the next or current one. */
  static FreezeAttempt next(CheckpointContext context) {
    return of(context, context.suspensions() + 1);
  }

  /** Returns the last one that suspended the workload. */
  static FreezeAttempt last(CheckpointContext context) {
    return of(context, Math.max(1, context.suspensions()));
  }

  private static FreezeAttempt of(CheckpointContext context, int number) {
    boolean inMemory =
        context.spec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND
            && (context.spec().storeName() == null || number > 1);
    // An explanation is always that of a Checkpoint.
    OperationType type =
        inMemory && !context.spec().getOptions().getDryRun()
            ? OperationType.SUSPEND
            : OperationType.CHECKPOINT;
    return new FreezeAttempt(type, number, !inMemory);
  }

  /** Returns its operation; empty before it is created. */
  Optional<OperationView> operation(CheckpointContext context) {
    return context.operation(type, number);
  }

  String name(CheckpointContext context) {
    return new OperationName(RequesterKind.CHECKPOINT, context.uid(), type, number).text();
  }
}
