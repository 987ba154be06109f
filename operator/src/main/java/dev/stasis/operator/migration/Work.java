package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The orders that were given for one GpuMigration. Which one is which follows from its name.
 *
 * @param all of them
 */
record Work(List<OperationView> all) {

  /** Number of the Checkpoint that only looks. */
  static final int LOOK = 1;

  /** Number of the Checkpoint that freezes. */
  static final int FREEZE = 2;

  /** Number of the DeleteArtifact on the source's node. */
  static final int OF_SOURCE = 1;

  /** Number of the DeleteArtifact on the target's node. */
  static final int OF_TARGET = 2;

  /** The Restores that only compare a target have the numbers behind it, one a target. */
  static final int FIT = 100;

  Work {
    all = List.copyOf(all);
  }

  /** What the agent found before anything was touched. */
  Optional<OperationView> look() {
    return of(OperationType.CHECKPOINT, LOOK);
  }

  /** The freeze of the source. */
  Optional<OperationView> freeze() {
    return of(OperationType.CHECKPOINT, FREEZE);
  }

  /** What the agent of the target of that attempt says of its GPUs. */
  Optional<OperationView> fit(int attempt) {
    return of(OperationType.RESTORE, FIT + attempt);
  }

  /** Whether that is an order to compare, by which nothing comes to run. */
  static boolean isFit(OperationView view) {
    return view.type() == OperationType.RESTORE && number(view) > FIT;
  }

  /** The last one of that type. */
  Optional<OperationView> last(OperationType type) {
    return all.stream()
        .filter(view -> view.type() == type)
        .max(Comparator.comparingInt(Work::number));
  }

  /** The one of that type and number. */
  Optional<OperationView> of(OperationType type, int number) {
    return all.stream().filter(view -> view.type() == type && number(view) == number).findFirst();
  }

  /** Those that work at the target's end, or on the way there. */
  List<OperationView> beyondTheSource() {
    return all.stream()
        .filter(
            view ->
                view.type() == OperationType.RESTORE
                    || view.type() == OperationType.RECEIVE
                    || view.type() == OperationType.SEND)
        .toList();
  }

  /** The number at the end of its name. */
  static int number(OperationView view) {
    return Integer.parseInt(view.name().substring(view.name().lastIndexOf('-') + 1));
  }
}
