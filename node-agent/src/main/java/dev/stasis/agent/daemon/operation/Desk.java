package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import java.io.UncheckedIOException;
import java.util.function.Consumer;

/** Where jobs write down how far they are: first on the disk, then for the API server. */
final class Desk {

  private static final System.Logger LOG = System.getLogger(Desk.class.getName());

  private final OperationJournal journal;
  private final StatusWriter writer;
  private final Runnable frozenChanged;

  /**
   * A desk.
   *
   * @param frozenChanged told when something is frozen or thawed
   */
  Desk(OperationJournal journal, StatusWriter writer, Runnable frozenChanged) {
    this.frozenChanged = frozenChanged;
    this.journal = journal;
    this.writer = writer;
  }

  /** Something that others wait for. */
  void say(Assignment assignment, Consumer<GpuNodeOperationStatus> change) {
    assignment.report().change(change);
    writer.atOnce(assignment);
  }

  /** Something that people watch. */
  void mention(Assignment assignment, Consumer<GpuNodeOperationStatus> change) {
    assignment.report().change(change);
    writer.soon(assignment);
  }

  /** The workload stands still from now on: a successor has to know since when. */
  void freezes(Assignment assignment, Consumer<GpuNodeOperationStatus> change) {
    assignment.report().change(change);
    try {
      write(assignment, assignment.entry().stage());
    } catch (UncheckedIOException e) {
      // No reason to undo the freeze: only a successor would miss it.
      LOG.log(System.Logger.Level.WARNING, "when " + assignment.name() + " froze", e);
    }
    writer.atOnce(assignment);
  }

  /** A phase on the way. */
  void enter(Assignment assignment, OperationPhase phase) {
    assignment.report().enter(phase);
    writer.atOnce(assignment);
  }

  /** From here on the engine touches things. */
  void begin(Assignment assignment) {
    write(assignment, JournalEntry.Stage.BEGUN);
    assignment
        .report()
        .change(
            status -> {
              status.setReason(null);
              status.setMessage(null);
            });
    enter(assignment, OperationPhase.RUNNING);
  }

  /** The end, or the wait for a decision. */
  void end(Assignment assignment, Ending ending) {
    assignment
        .report()
        .inOne(
            () -> {
              assignment.report().change(ending::to);
              assignment.report().enter(ending.phase());
              write(
                  assignment,
                  ending.phase() == OperationPhase.HELD
                      ? JournalEntry.Stage.HELD
                      : JournalEntry.Stage.ENDED);
            });
    writer.atOnce(assignment);
    frozenChanged.run();
  }

  /** What is so now with the workload of one that is over. */
  void correct(Assignment assignment, Ending now) {
    assignment
        .report()
        .inOne(
            () -> {
              assignment.report().change(now::to);
              write(assignment, JournalEntry.Stage.ENDED);
            });
    writer.atOnce(assignment);
    frozenChanged.run();
  }

  private void write(Assignment assignment, JournalEntry.Stage stage) {
    JournalEntry next = assignment.entry().at(stage, assignment.report().copy());
    journal.write(next);
    assignment.entry(next);
  }

  /** What was left to be said of it by a predecessor. */
  void sayAgain(Assignment assignment) {
    writer.atOnce(assignment);
  }
}
