package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.RequesterKind;
import java.util.Objects;
import java.util.Optional;

/**
 * Which freeze of a GpuCheckpoint is meant. A workload can be suspended any number of times; only
 * the first time an artifact is written, and only if a store is named.
 *
 * @param type Checkpoint or Suspend
 * @param number which one, from 1
 * @param writes whether an artifact is written, or would be
 */
record Frozen(OperationType type, int number, boolean writes) {

  /** The one that is to come or in hand. */
  static Frozen next(Turn turn) {
    return of(turn, suspensions(turn) + 1);
  }

  /** The last one that left the workload suspended. */
  static Frozen last(Turn turn) {
    return of(turn, Math.max(1, suspensions(turn)));
  }

  static int suspensions(Turn turn) {
    return Objects.requireNonNullElse(turn.status().getSuspensions(), 0);
  }

  private static Frozen of(Turn turn, int number) {
    boolean inMemory =
        turn.spec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND
            && (turn.spec().storeName() == null || number > 1);
    // An explanation is always that of a Checkpoint.
    OperationType type =
        inMemory && !turn.spec().getOptions().getDryRun()
            ? OperationType.SUSPEND
            : OperationType.CHECKPOINT;
    return new Frozen(type, number, !inMemory);
  }

  /** Its operation, if it was ordered. */
  Optional<OperationView> operation(Turn turn) {
    return operation(turn, type, number);
  }

  /** What its operation is called. */
  String name(Turn turn) {
    return new OperationName(RequesterKind.CHECKPOINT, turn.uid(), type, number).text();
  }

  /** The operation of that type and number, if it was ordered. */
  static Optional<OperationView> operation(Turn turn, OperationType type, int number) {
    String name = new OperationName(RequesterKind.CHECKPOINT, turn.uid(), type, number).text();
    return turn.operations().stream().filter(view -> view.name().equals(name)).findFirst();
  }
}
