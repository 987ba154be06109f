package dev.stasis.agent.engine;

import dev.stasis.agent.process.PidFd;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.Signal;
import java.time.Duration;
import java.util.Optional;

/**
 * Ends helpers (criu, the mover) that may still be at work on a tree, also those of an agent that
 * has died.
 */
final class Children {

  /**
   * On TERM criu lets the tree go and the mover finishes its piece: a second or two for a big tree.
   */
  private static final Duration TERM_GRACE = Duration.ofSeconds(10);

  /** KILL acts at once unless the process hangs in the kernel. */
  private static final Duration KILL_GRACE = Duration.ofSeconds(10);

  private final FrozenWork frozen;

  Children(FrozenWork frozen) {
    this.frozen = frozen;
  }

  void end() throws StepFailure {
    for (ProcessId child : frozen.work().children()) {
      Optional<PidFd> opened = frozen.node().pids().open(child);
      if (opened.isEmpty()) {
        continue;
      }
      try (PidFd held = opened.get()) {
        held.send(Signal.TERM);
        if (!held.awaitEnd(TERM_GRACE)) {
          held.send(Signal.KILL);
          if (!held.awaitEnd(KILL_GRACE)) {
            throw new StepFailure(
                Reason.PROCESS_CONTROL, "helper " + child + " does not end, not even by SIGKILL");
          }
        }
      }
    }
    frozen.noteIfPossible(Work::withoutChildren);
  }
}
