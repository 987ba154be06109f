package dev.stasis.agent.engine;

import java.util.ArrayList;
import java.util.List;

/** A step with something before and after its way forward and before its undo. */
record HookedStep<C extends U, U>(Step<C, U> inner, Hook hook) implements Step<C, U> {

  /** Where in a step. */
  enum Moment {
    BEFORE,
    AFTER,
    BEFORE_UNDO
  }

  /** What is done there. */
  interface Hook {
    void at(Moment moment, String step) throws StepFailure, InterruptedException;
  }

  /** Every step of a list with the same hook. */
  static <C extends U, U> List<Step<C, U>> all(List<Step<C, U>> steps, Hook hook) {
    List<Step<C, U>> hooked = new ArrayList<>();
    steps.forEach(step -> hooked.add(new HookedStep<>(step, hook)));
    return hooked;
  }

  /** A fault of ours at one moment. */
  static Hook failing(Moment where, String name) {
    return (moment, step) -> {
      if (moment == where && step.equals(name)) {
        throw new StepFailure(Reason.INTERNAL, "injected " + where + " " + name);
      }
    };
  }

  @Override
  public String name() {
    return inner.name();
  }

  @Override
  public String undoName() {
    return inner.undoName();
  }

  @Override
  public void run(C context) throws StepFailure, InterruptedException {
    hook.at(Moment.BEFORE, name());
    inner.run(context);
    hook.at(Moment.AFTER, name());
  }

  @Override
  public void undo(U context) throws StepFailure, InterruptedException {
    hook.at(Moment.BEFORE_UNDO, name());
    inner.undo(context);
  }
}
