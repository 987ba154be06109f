package dev.stasis.agent.engine;

import java.util.List;

/**
 * The undo: ends helpers, undoes every step from the last to the first, and then determines the
 * state of the workload.
 */
final class ThawRun {

  private final FrozenWork frozen;
  private final StepRunner runner;
  private final List<? extends Step<Freeze, FrozenWork>> steps;

  ThawRun(FrozenWork frozen, StepRunner runner, List<? extends Step<Freeze, FrozenWork>> steps) {
    this.frozen = frozen;
    this.runner = runner;
    this.steps = steps;
  }

  SourceState run() throws InterruptedException {
    try {
      new Children(frozen).end();
      runner.back(steps, frozen);
    } catch (StepFailure failure) {
      SourceState found = new SourceProbe(frozen).look();
      return found.kind() == SourceState.Kind.RUNNING || found.kind() == SourceState.Kind.GONE
          ? found
          : new SourceState(found.kind(), failure.getMessage() + "; " + found.detail());
    }
    return new SourceProbe(frozen).look();
  }
}
