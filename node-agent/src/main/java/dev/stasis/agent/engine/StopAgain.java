package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.StopOutcome;
import dev.stasis.agent.container.TreeStopper;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Stops a tree that should be stopped but may not be: a killed criu continues it. */
final class StopAgain {

  /** As for the first stop: milliseconds, and some attempts for a large tree. */
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final FrozenWork frozen;

  StopAgain(FrozenWork frozen) {
    this.frozen = frozen;
  }

  void stop() throws StepFailure {
    Optional<Container> container = frozen.container();
    if (container.isEmpty()) {
      return;
    }
    StopOutcome outcome =
        new TreeStopper(frozen.node().proc())
            .stopAgain(container.get(), frozen.work().tree(), LIMIT);
    if (outcome instanceof StopOutcome.NotStopped not) {
      throw new StepFailure(Reason.PROCESS_CONTROL, not.why());
    }
    // Those that were already stopped belong to us too: the undo of the stop continues all of them,
    // except those stopped before the freeze.
    List<ProcessId> all = new ArrayList<>(frozen.work().tree());
    for (ProcessId process : ((StopOutcome.Stopped) outcome).tree().stopped()) {
      if (!all.contains(process)) {
        all.add(process);
      }
    }
    frozen.noteIfPossible(work -> work.withTree(all, work.stoppedBefore()));
  }
}
