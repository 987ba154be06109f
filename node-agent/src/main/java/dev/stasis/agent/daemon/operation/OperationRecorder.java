package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.function.Consumer;

/** Records the progress of operations: first in the journal, then in the status. */
final class OperationRecorder {

  private static final System.Logger LOG = System.getLogger(OperationRecorder.class.getName());

  private final OperationJournal journal;
  private final StatusWriter writer;
  private final Runnable frozenChanged;

  /**
   * Creates a recorder.
   *
   * @param frozenChanged called when a workload is frozen or thawed
   */
  OperationRecorder(OperationJournal journal, StatusWriter writer, Runnable frozenChanged) {
    this.frozenChanged = frozenChanged;
    this.journal = journal;
    this.writer = writer;
  }

  /** Changes the status, and publishes it immediately, because other components wait for it. */
  void publish(ActiveOperation operation, Consumer<GpuNodeOperationStatus> change) {
    operation.change(change);
    writer.atOnce(operation);
  }

  /** Changes the status, and publishes it soon, for users. */
  void publishProgress(ActiveOperation operation, Consumer<GpuNodeOperationStatus> change) {
    operation.change(change);
    writer.soon(operation);
  }

  /** Records that the workload is frozen from now on, because a successor needs the time. */
  void recordFreeze(ActiveOperation operation, Consumer<GpuNodeOperationStatus> change) {
    operation.change(change);
    try {
      write(operation, operation.entry().stage());
    } catch (UncheckedIOException e) {
      // Not a reason to undo the freeze: only a successor would miss it.
      LOG.log(Level.WARNING, "when " + operation.name() + " froze", e);
    }
    writer.atOnce(operation);
  }

  /** Enters a phase, and publishes it. */
  void enter(ActiveOperation operation, OperationPhase phase) {
    operation.enter(phase);
    writer.atOnce(operation);
  }

  /** Records that the engine is about to change something. */
  void begin(ActiveOperation operation) {
    write(operation, OperationJournal.Entry.Stage.BEGUN);
    operation.change(
        status -> {
          status.setReason(null);
          status.setMessage(null);
        });
    enter(operation, OperationPhase.RUNNING);
  }

  /** Records the end, or that the operation is held until a decision. */
  void end(ActiveOperation operation, OperationResult result) {
    operation.atomically(
        () -> {
          operation.change(result::to);
          operation.enter(result.phase());
          write(
              operation,
              result.phase() == OperationPhase.HELD
                  ? OperationJournal.Entry.Stage.HELD
                  : OperationJournal.Entry.Stage.ENDED);
        });
    writer.atOnce(operation);
    frozenChanged.run();
  }

  /** Records the current state of a finished operation's workload. */
  void correct(ActiveOperation operation, OperationResult now) {
    operation.atomically(
        () -> {
          operation.change(now::to);
          write(operation, OperationJournal.Entry.Stage.ENDED);
        });
    writer.atOnce(operation);
    frozenChanged.run();
  }

  private void write(ActiveOperation operation, OperationJournal.Entry.Stage stage) {
    OperationJournal.Entry next = operation.entry().at(stage, operation.status());
    journal.write(next);
    operation.entry(next);
  }

  /** Publishes what a predecessor did not. */
  void republish(ActiveOperation operation) {
    writer.atOnce(operation);
  }
}
