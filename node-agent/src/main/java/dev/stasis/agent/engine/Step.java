package dev.stasis.agent.engine;

/**
 * One step of an operation on a workload.
 *
 * @param <C> the context of the forward direction
 * @param <U> the context of the undo: no more than a journal contains
 */
interface Step<C extends U, U> {

  /** The step's name in journals, timings, logs and metrics. */
  String name();

  /** The undo's name there: in a resume it is a step like any other. */
  default String undoName() {
    return "keep-" + name();
  }

  void run(C context) throws StepFailure, InterruptedException;

  /**
   * Undoes the step. It reads the actual state and undoes what it finds, so it may be called if the
   * step never ran, ran in part, ran in another agent that has died, or was undone before. A step
   * without an undo leaves nothing that a later one does not remove.
   */
  default void undo(U context) throws StepFailure, InterruptedException {}
}
