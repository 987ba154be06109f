package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.StopOutcome;
import dev.stasis.agent.container.TreeStopper;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Stops a tree that should stand still and may not: a criu that was killed lets it go. */
final class StopAgain {

  /** As for the first stop: milliseconds, and some tries for a big tree. */
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
    StopOutcome outcome = new TreeStopper(frozen.node().proc()).stopAgain(container.get(), LIMIT);
    if (outcome instanceof StopOutcome.NotStopped not) {
      throw new StepFailure(Reason.PROCESS_CONTROL, not.why());
    }
    // Those that stood still already are ours too: the undo of the stop lets all of them go, but
    // for those of before.
    List<ProcessId> all = new ArrayList<>(frozen.work().tree());
    for (ProcessId process : ((StopOutcome.Stopped) outcome).tree().stopped()) {
      if (!all.contains(process)) {
        all.add(process);
      }
    }
    frozen.noteIfPossible(work -> work.withTree(all, work.stoppedBefore()));
  }
}
