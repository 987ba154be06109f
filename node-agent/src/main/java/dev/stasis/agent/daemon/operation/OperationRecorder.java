package dev.stasis.agent.daemon.operation;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.function.Consumer;

/**
 * Records the progress of operations: first in the journal of the container, if the engine has one,
 * then in the status.
 */
final class OperationRecorder {

  private static final System.Logger LOG = System.getLogger(OperationRecorder.class.getName());

  private final Journal journal;
  private final StatusWriter writer;
  private final Runnable frozenChanged;

  /** Where the descriptions of operations are kept. */
  interface Journal {

    /** Replaces the description of an operation, if the journal contains the operation. */
    void describe(String uid, JsonNode operation) throws InterruptedException;
  }

  /**
   * Creates a recorder.
   *
   * @param frozenChanged called when a workload is frozen or thawed
   */
  OperationRecorder(Journal journal, StatusWriter writer, Runnable frozenChanged) {
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

  /** Enters a phase, and publishes it. */
  void enter(ActiveOperation operation, OperationPhase phase) {
    operation.enter(phase);
    writer.atOnce(operation);
  }

  /** Reports that it is about to change something; the engine records that in its journal. */
  void begin(ActiveOperation operation) {
    operation.stage(OperationStage.BEGUN);
    operation.change(
        status -> {
          status.setReason(null);
          status.setMessage(null);
        });
    enter(operation, OperationPhase.RUNNING);
  }

  /** Records the end, or that the operation is held until a decision. */
  void end(ActiveOperation operation, OperationResult result) {
    operation.change(
        status -> {
          result.to(status);
          operation.enter(result.phase());
          operation.stage(
              result.phase() == OperationPhase.HELD ? OperationStage.HELD : OperationStage.ENDED);
          describe(operation);
        });
    writer.atOnce(operation);
    frozenChanged.run();
  }

  /** Records the current state of a finished operation's workload. */
  void correct(ActiveOperation operation, OperationResult now) {
    operation.change(
        status -> {
          now.to(status);
          describe(operation);
        });
    writer.atOnce(operation);
    frozenChanged.run();
  }

  /** For a workload that the operation leaves frozen: its successor then repeats nothing. */
  private void describe(ActiveOperation operation) {
    if (!operation.isJournaled()) {
      return;
    }
    try {
      journal.describe(operation.uid(), operation.description());
    } catch (UncheckedIOException e) {
      // The result must reach the API server anyway.
      LOG.log(Level.WARNING, "journal of " + operation.name(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Publishes what a predecessor did not. */
  void republish(ActiveOperation operation) {
    writer.atOnce(operation);
  }
}
