package dev.stasis.agent.engine;

import dev.stasis.agent.process.PidFd;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.Signal;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Ends helpers (criu, the mover) that may still work on a tree, including those of an agent that
 * has died.
 */
final class Children {

  private static final System.Logger LOG = System.getLogger(Children.class.getName());

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

  /**
   * Ends them. A killed helper that waits for a disk in the kernel runs no more code of its own, so
   * it only matters if it still traces a thread: a frozen workload must not wait for the disk.
   */
  void end() throws StepFailure {
    List<ProcessId> left =
        remaining(
            Signal.KILL, KILL_GRACE, remaining(Signal.TERM, TERM_GRACE, frozen.work().children()));
    for (ProcessId child : left) {
      requireHarmless(child);
    }
    frozen.noteIfPossible(work -> work.withChildren(left));
  }

  /** Sends all of them a signal, and then waits. Returns those that have not ended by it. */
  private List<ProcessId> remaining(Signal signal, Duration limit, List<ProcessId> children) {
    for (ProcessId child : children) {
      try (PidFd held = frozen.node().pids().open(child).orElse(null)) {
        if (held != null) {
          held.send(signal);
        }
      }
    }
    long until = System.nanoTime() + limit.toNanos();
    return children.stream()
        .filter(
            child ->
                !frozen
                    .node()
                    .pids()
                    .awaitEnd(child, Duration.ofNanos(Math.max(0, until - System.nanoTime()))))
        .toList();
  }

  private void requireHarmless(ProcessId child) throws StepFailure {
    Optional<ProcessId> traced = traced();
    if (traced.isPresent() || frozen.work().kind() == Work.Kind.RESTORE) {
      throw new StepFailure(
          Reason.PROCESS_CONTROL,
          "helper %s is still running after SIGKILL%s; does its disk respond?"
              .formatted(child, traced.map(process -> ", and traces " + process).orElse("")));
    }
    LOG.log(
        System.Logger.Level.WARNING,
        "Left helper {0} of {1} behind: killed, and waiting for a disk",
        child,
        frozen.work().id());
  }

  /** Returns a process of the workload with a thread that anyone traces. */
  private Optional<ProcessId> traced() {
    Work work = frozen.work();
    Set<ProcessId> all = new LinkedHashSet<>(work.tree());
    work.cuda().forEach(process -> all.add(process.process()));
    frozen
        .container()
        .ifPresent(
            found -> all.addAll(frozen.node().tree().listAgain(found, List.copyOf(all)).living()));
    return all.stream()
        .filter(
            process ->
                frozen.node().proc().threads(process.pid()).stream()
                    .anyMatch(thread -> thread.tracerPid() != 0))
        .findFirst();
  }
}
