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
 * Stops every process of a container and lets it go again. The cgroup is frozen only while the
 * signals are sent: what is frozen cannot be read into or injected, what is stopped can.
 */
public final class TreeStopper {

  /** The kernel announces no stop to a stranger; a stop takes well under a millisecond. */
  private static final long POLL_NANOS = 500_000;

  /**
   * A parent inside vfork stops only after its child has gone on, which we have stopped too. So
   * after this time everything is let go for a moment and the stop begins anew.
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
   * @param atMost for all tries together
   */
  public StopOutcome stop(Container container, Duration atMost) {
    Optional<Freezer> freezer = Freezer.of(container);
    if (freezer.isPresent() && freezer.get().isFrozen()) {
      return new StopOutcome.NotStopped(
          "container " + container.id() + ": wanted a cgroup that runs, found it frozen", true);
    }
    return stop(container, freezer, System.nanoTime() + atMost.toNanos());
  }

  /**
   * Stops a tree again that was stopped by us. Its cgroup may be frozen: whoever stopped it may
   * have died in between. The processes get their signal before it thaws, so none of them runs.
   *
   * @param atMost for all tries together
   */
  public StopOutcome stopAgain(Container container, Duration atMost) {
    return stop(container, Freezer.of(container), System.nanoTime() + atMost.toNanos());
  }

  private StopOutcome stop(Container container, Optional<Freezer> freezer, long until) {
    while (true) {
      Attempt attempt = new Attempt();
      long tryUntil = Math.min(until, System.nanoTime() + ONE_TRY.toNanos());
      Optional<String> fault = attempt.run(container, freezer, tryUntil);
      if (fault.isEmpty()) {
        return new StopOutcome.Stopped(attempt.tree());
      }
      List<ProcessId> still = resume(attempt.tree(), ONE_TRY);
      if (!still.isEmpty() || System.nanoTime() >= until) {
        return new StopOutcome.NotStopped(fault.get(), still.isEmpty());
      }
    }
  }

  /**
   * Sends SIGCONT to those that we stopped and waits until no thread of theirs is stopped.
   *
   * @return those that still are after that time: nothing that waits for them (the driver) may be
   *     called; empty when all run or are gone
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
   * Waits until every process is stopped again after criu let go of it. criu sends SIGSTOP before
   * it detaches, so nothing of the program runs in between, but the stop shows a moment later.
   *
   * @return those that are not stopped after that time: nothing of theirs may be taken for frozen
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

    StoppedTree tree() {
      return new StoppedTree(List.copyOf(stopped), List.copyOf(stoppedBefore));
    }

    Optional<String> run(Container container, Optional<Freezer> freezer, long until) {
      // Before the freezing: a frozen process shows D, whatever it was.
      tree.list(container).members().stream()
          .filter(ProcessStat::isStopped)
          .forEach(stat -> stoppedBefore.add(stat.id()));
      if (freezer.isPresent()) {
        if (!freezer.get().freeze(left(until))) {
          return Optional.of("container " + container.id() + ": its cgroup did not freeze in time");
        }
        try {
          stopAll(container);
        } finally {
          freezer.get().thaw(left(until));
        }
        if (freezer.get().isFrozen()) {
          return Optional.of("container " + container.id() + ": its cgroup stayed frozen");
        }
      }
      return untilStable(container, until);
    }

    /** Stops whoever is new, until all are stopped and no new one has appeared. */
    private Optional<String> untilStable(Container container, long until) {
      while (true) {
        boolean news = stopAll(container);
        List<ProcessId> running =
            Stream.concat(stopped.stream(), seenStopped.stream())
                .filter(process -> !isStopped(process))
                .toList();
        if (!news && running.isEmpty()) {
          return Optional.empty();
        }
        if (System.nanoTime() >= until) {
          return Optional.of(
              "container "
                  + container.id()
                  + ": wanted every process stopped, found running: "
                  + running.stream().map(this::described).collect(Collectors.joining(", ")));
        }
        if (!running.isEmpty()) {
          LockSupport.parkNanos(POLL_NANOS);
        }
      }
    }

    private boolean stopAll(Container container) {
      boolean news = false;
      for (ProcessId process : tree.list(container).living()) {
        boolean known = stopped.contains(process) || seenStopped.contains(process);
        // Who was stopped before gets the signal too: somebody may just be letting it go.
        if (!known && send(process, Signal.STOP)) {
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
