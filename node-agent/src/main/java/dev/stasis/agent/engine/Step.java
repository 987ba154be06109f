package dev.stasis.agent.engine;

/**
 * One step of an operation on a workload.
 *
 * @param <C> what the way forward needs
 * @param <U> what the undo needs: no more than a journal holds
 */
interface Step<C extends U, U> {

  /** The step's name in journals, timings, logs and metrics. */
  String name();

  /** The undo's name there: on the way of a resume it is a step like any other. */
  String undoName();

  /** Does the step. */
  void run(C context) throws StepFailure, InterruptedException;

  /**
   * Takes the step back. It looks at the world and undoes what it finds, so it may be called when
   * the step never ran, ran in part, ran in another agent that has died, or was undone before.
   */
  void undo(U context) throws StepFailure, InterruptedException;
}
