package dev.stasis.agent.engine;

import dev.stasis.agent.process.PidFd;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.Signal;
import java.time.Duration;
import java.util.Optional;

/**
 * Ends helpers (criu, the mover) that may still work on a tree, including those of an agent that
 * has died.
 */
final class Children {

  /**
   * On TERM criu releases the tree and the mover finishes its piece: a second or two for a large
   * tree.
   */
  private static final Duration TERM_GRACE = Duration.ofSeconds(10);

  /** KILL takes effect immediately unless the process hangs in the kernel. */
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
                Reason.PROCESS_CONTROL, "helper " + child + " is still running after SIGKILL");
          }
        }
      }
    }
    frozen.noteIfPossible(Work::withoutChildren);
  }
}
