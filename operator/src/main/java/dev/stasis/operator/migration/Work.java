package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The operations of one GpuMigration, identified by their names. */
record Work(List<OperationView> all) {

  /** Number of the Checkpoint that only inspects. */
  static final int LOOK = 1;

  /** Number of the Checkpoint that freezes. */
  static final int FREEZE = 2;

  /** Number of the DeleteArtifact on the source's node. */
  static final int OF_SOURCE = 1;

  /** Number of the DeleteArtifact on the target's node. */
  static final int OF_TARGET = 2;

  /** The Restores that only compare a target have the following numbers, one per target. */
  static final int FIT = 100;

  Work {
    all = List.copyOf(all);
  }

  /** The agent's findings before anything was touched. */
  Optional<OperationView> look() {
    return of(OperationType.CHECKPOINT, LOOK);
  }

  /** The source before it was touched. */
  Optional<Map<String, Object>> template() {
    return look()
        .map(look -> look.operation().getSpec().getFreeze())
        .map(FreezeOrder::getPodTemplate);
  }

  /** The freeze of the source. */
  Optional<OperationView> freeze() {
    return of(OperationType.CHECKPOINT, FREEZE);
  }

  /** The report of that attempt's target agent on its GPUs. */
  Optional<OperationView> fit(int attempt) {
    return of(OperationType.RESTORE, FIT + attempt);
  }

  /** Returns whether that operation only compares, and restores nothing. */
  static boolean isFit(OperationView view) {
    return view.type() == OperationType.RESTORE && view.number() > FIT;
  }

  Optional<OperationView> last(OperationType type) {
    return all.stream()
        .filter(view -> view.type() == type)
        .max(Comparator.comparingInt(OperationView::number));
  }

  Optional<OperationView> of(OperationType type, int number) {
    return all.stream().filter(view -> view.type() == type && view.number() == number).findFirst();
  }
}
