package dev.stasis.agent.container;

import dev.stasis.agent.process.PidFd;
import dev.stasis.agent.process.PidFds;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.Signal;
import dev.stasis.agent.process.ThreadStat;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Stops every process of a container and continues it again. The cgroup is frozen only while the
 * signals are sent: a frozen process cannot be read or injected into, a stopped one can.
 */
public final class TreeStopper {

  /** The kernel notifies only the parent of a stop; a stop takes well under a millisecond. */
  private static final long POLL_NANOS = 500_000;

  /**
   * A parent inside vfork stops only after its child has continued, which we have stopped too.
   * After this time everything is therefore continued for a moment, and the stop starts again.
   */
  private static final Duration ONE_TRY = Duration.ofSeconds(2);

  private final ProcFs proc;
  private final PidFds pidFds;
  private final ProcessTree tree;

  public TreeStopper(ProcFs proc) {
    this.proc = proc;
    this.pidFds = new PidFds(proc);
    this.tree = new ProcessTree(proc);
  }

  /**
   * Stops the whole tree.
   *
   * @param known processes of an earlier list
   * @param atMost limit for all attempts together
   */
  public StopOutcome stop(Container container, List<ProcessId> known, Duration atMost) {
    Optional<Freezer> freezer = Freezer.of(container);
    if (freezer.isPresent() && freezer.get().isFrozen()) {
      return new StopOutcome.NotStopped(
          "container " + container.id() + ": expected a running cgroup, got a frozen one");
    }
    return stop(container, freezer, known, System.nanoTime() + atMost.toNanos());
  }

  /**
   * Stops a tree that we stopped before. Its cgroup may be frozen, because the process that stopped
   * it may have died in between. The signals are sent before it thaws, so none of the processes
   * runs.
   *
   * @param known its processes
   * @param atMost limit for all attempts together
   */
  public StopOutcome stopAgain(Container container, List<ProcessId> known, Duration atMost) {
    return stop(container, Freezer.of(container), known, System.nanoTime() + atMost.toNanos());
  }

  private StopOutcome stop(
      Container container, Optional<Freezer> freezer, List<ProcessId> known, long until) {
    while (true) {
      Attempt attempt = new Attempt(known);
      long tryUntil = Math.min(until, System.nanoTime() + ONE_TRY.toNanos());
      Optional<String> fault = attempt.run(container, freezer, tryUntil);
      if (fault.isEmpty()) {
        return new StopOutcome.Stopped(attempt.tree());
      }
      List<ProcessId> still = resume(attempt.tree(), ONE_TRY);
      if (!still.isEmpty() || System.nanoTime() >= until) {
        return new StopOutcome.NotStopped(fault.get());
      }
    }
  }

  /**
   * Sends SIGCONT to the processes that we stopped, and waits until no thread of theirs is stopped.
   *
   * @return those still stopped after that time: no call that waits for them (to the driver) may be
   *     made; empty if all run or are gone
   */
  public List<ProcessId> resume(StoppedTree stopped, Duration atMost) {
    long until = System.nanoTime() + atMost.toNanos();
    for (ProcessId process : stopped.stopped()) {
      send(process, Signal.CONT);
    }
    while (true) {
      List<ProcessId> still =
          stopped.stopped().stream().filter(process -> anyThread(process, 'T')).toList();
      if (still.isEmpty() || System.nanoTime() >= until) {
        return still;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /**
   * Waits until every process is stopped again after criu has released it. criu sends SIGSTOP
   * before it detaches, so the program does not run in between, but the stop becomes visible a
   * moment later.
   *
   * @return those not stopped after that time, which must not be treated as frozen
   */
  public List<ProcessId> awaitStopped(StoppedTree tree, Duration atMost) {
    long until = System.nanoTime() + atMost.toNanos();
    while (true) {
      List<ProcessId> running =
          Stream.concat(tree.stopped().stream(), tree.stoppedBefore().stream())
              .filter(process -> !isStopped(process))
              .toList();
      if (running.isEmpty() || System.nanoTime() >= until) {
        return running;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Whether every thread of the process is stopped, by a signal or by a tracer, or has ended. */
  public boolean isStopped(ProcessId process) {
    Optional<ProcessStat> stat = proc.stat(process);
    if (stat.isEmpty()) {
      return true;
    }
    return proc.threads(process.pid()).stream()
        .allMatch(thread -> thread.isStopped() || thread.state() == 'Z' || thread.state() == 'X');
  }

  private boolean anyThread(ProcessId process, char state) {
    return proc.stat(process).isPresent()
        && proc.threads(process.pid()).stream().map(ThreadStat::state).anyMatch(s -> s == state);
  }

  private boolean send(ProcessId process, Signal signal) {
    Optional<PidFd> opened = pidFds.open(process);
    if (opened.isEmpty()) {
      return false;
    }
    try (PidFd pidFd = opened.get()) {
      return pidFd.send(signal);
    }
  }

  private final class Attempt {

    private final Set<ProcessId> stopped = new LinkedHashSet<>();
    private final Set<ProcessId> stoppedBefore = new LinkedHashSet<>();
    private final Set<ProcessId> seenStopped = new LinkedHashSet<>();
    private final List<ProcessId> known;

    Attempt(List<ProcessId> known) {
      this.known = known;
    }

    StoppedTree tree() {
      return new StoppedTree(List.copyOf(stopped), List.copyOf(stoppedBefore));
    }

    Optional<String> run(Container container, Optional<Freezer> freezer, long until) {
      // Before the cgroup is frozen: a frozen process shows D in any state.
      tree.listAgain(container, known).members().stream()
          .filter(ProcessStat::isStopped)
          .forEach(stat -> stoppedBefore.add(stat.id()));
      if (freezer.isPresent()) {
        if (!freezer.get().freeze(left(until))) {
          return Optional.of("container " + container.id() + ": its cgroup did not freeze in time");
        }
        try {
          stopAll(tree.listAgain(container, known));
        } finally {
          freezer.get().thaw(left(until));
        }
        if (freezer.get().isFrozen()) {
          return Optional.of("container " + container.id() + ": its cgroup could not be thawed");
        }
      }
      return untilStable(container, until);
    }

    /** Stops new processes until all are stopped and no new one has appeared. */
    private Optional<String> untilStable(Container container, long until) {
      while (true) {
        // Before the list is read: a process that stops later may end a fork after it.
        List<ProcessId> running =
            Stream.concat(stopped.stream(), seenStopped.stream())
                .filter(process -> !isStopped(process))
                .toList();
        // The last list has the processes outside the cgroups too.
        boolean news = stopAll(tree.list(container));
        if (!news && running.isEmpty()) {
          return Optional.empty();
        }
        if (System.nanoTime() >= until) {
          return Optional.of(
              "container "
                  + container.id()
                  + ": expected all processes to be stopped, got running: "
                  + running.stream().map(this::described).collect(Collectors.joining(", ")));
        }
        if (!running.isEmpty()) {
          LockSupport.parkNanos(POLL_NANOS);
        }
      }
    }

    private boolean stopAll(ProcessTree.Listing listing) {
      boolean news = false;
      for (ProcessId process : listing.living()) {
        boolean signaled = stopped.contains(process) || seenStopped.contains(process);
        // A process that was already stopped gets the signal too, because another program may be
        // continuing it right now.
        if (!signaled && send(process, Signal.STOP)) {
          (stoppedBefore.contains(process) ? seenStopped : stopped).add(process);
          news = true;
        }
      }
      return news;
    }

    private String described(ProcessId process) {
      return proc.stat(process)
          .map(stat -> process + " (" + stat.comm() + ", state " + stat.state() + ")")
          .orElse(process.toString());
    }

    private Duration left(long until) {
      return Duration.ofNanos(Math.max(0, until - System.nanoTime()));
    }
  }
}
