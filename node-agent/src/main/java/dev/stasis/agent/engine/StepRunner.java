package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcLimitException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.LongSupplier;

/** Runs steps forward and back, and measures their durations. */
final class StepRunner {

  private static final System.Logger LOG = System.getLogger(StepRunner.class.getName());

  private final LongSupplier nanoTime;
  private final StepListener listener;
  private final StepTimings timings = new StepTimings();
  private volatile String lastStep = "start";

  StepRunner(LongSupplier nanoTime, StepListener listener) {
    this.nanoTime = nanoTime;
    this.listener = listener;
  }

  /** The last forward step that began. */
  String lastStep() {
    return lastStep;
  }

  StepTimings timings() {
    return timings;
  }

  /** Runs the steps in order, consulting the control before each. */
  <C extends U, U> void forward(
      List<? extends Step<C, U>> steps, C context, OperationControl control)
      throws StepFailure, InterruptedException {
    for (Step<C, U> step : steps) {
      control.check(step.name());
      lastStep = step.name();
      listener.progress(step.name(), 0, 0);
      long begin = nanoTime.getAsLong();
      try {
        step.run(context);
      } catch (ProcLimitException e) {
        throw new StepFailure(Reason.REFUSED, String.valueOf(e.getMessage()), e);
      } catch (RuntimeException e) {
        throw new StepFailure(Reason.INTERNAL, step.name() + ": " + e, e);
      } finally {
        timings.add(step.name(), Duration.ofNanos(nanoTime.getAsLong() - begin));
      }
    }
  }

  /**
   * Before the undos. An agent that stops interrupts its operations: a file operation fails by that
   * with an exception of its own and leaves the thread interrupted, and the undos would end at
   * their first wait.
   */
  static void clearInterrupt() {
    if (Thread.interrupted()) {
      LOG.log(System.Logger.Level.INFO, "the agent is stopping; what has begun is undone first");
    }
  }

  /**
   * Undoes the steps from the last to the first. Stops at the first undo that fails, because a
   * later one may depend on it (no thread runs before its memory is complete, no driver call is
   * made on a stopped process).
   */
  <C extends U, U> void back(List<? extends Step<C, U>> steps, U context)
      throws StepFailure, InterruptedException {
    List<Step<C, U>> reversed = new ArrayList<>(steps);
    Collections.reverse(reversed);
    for (Step<C, U> step : reversed) {
      String name = step.undoName();
      listener.progress(name, 0, 0);
      long begin = nanoTime.getAsLong();
      try {
        step.undo(context);
      } catch (RuntimeException e) {
        LOG.log(System.Logger.Level.ERROR, "undo of " + step.name(), e);
        throw new StepFailure(Reason.INTERNAL, name + ": " + e, e);
      } finally {
        timings.add(name, Duration.ofNanos(nanoTime.getAsLong() - begin));
      }
    }
  }
}
