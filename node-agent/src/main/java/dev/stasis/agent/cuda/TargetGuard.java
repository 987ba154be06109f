package dev.stasis.agent.cuda;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.util.Optional;

/**
 * Checks a process before a driver call. The driver works in a thread of the process itself: if
 * that thread cannot run, the call never returns (a Restore of a stopped process hung for minutes
 * until it was killed).
 */
final class TargetGuard {

  /** The reason for the refusal. */
  record Objection(Refusal refusal, String why) {}

  private final ProcFs proc;
  private final ThreadGlances threads;
  private final FrozenCgroups cgroups;

  TargetGuard(ProcFs proc, FrozenCgroups cgroups) {
    this.proc = proc;
    this.threads = new ThreadGlances(proc);
    this.cgroups = cgroups;
  }

  /** Whether it is still the same process. */
  Optional<Objection> gone(ProcessId process) {
    return proc.alive(process)
        ? Optional.empty()
        : Optional.of(
            new Objection(
                Refusal.PROCESS_GONE,
                "process "
                    + process
                    + ": expected the process with this start time, got "
                    + found(process)));
  }

  /** Whether the process is gone, or cannot run the driver's thread. */
  Optional<Objection> check(ProcessId process) {
    Optional<Objection> objection =
        threads.of(process.pid()).stream()
            .map(thread -> check(process, thread))
            .flatMap(Optional::stream)
            .findFirst()
            .or(() -> frozen(process));
    // Checked last: if the process exists now, everything above was read from it and not from
    // another process.
    return gone(process).or(() -> objection);
  }

  private static Optional<Objection> check(ProcessId process, ThreadGlances.Glance thread) {
    if (thread.tracer() != 0) {
      return Optional.of(
          objection(Refusal.PROCESS_TRACED, process, thread, "traced by " + thread.tracer()));
    }
    if (thread.state() == 'T' || thread.state() == 't') {
      return Optional.of(
          objection(
              Refusal.PROCESS_STOPPED, process, thread, "stopped (state " + thread.state() + ")"));
    }
    return Optional.empty();
  }

  private static Objection objection(
      Refusal refusal, ProcessId process, ThreadGlances.Glance thread, String how) {
    return new Objection(
        refusal, "process " + process + ": its thread " + thread.tid() + " is " + how);
  }

  private Optional<Objection> frozen(ProcessId process) {
    return cgroups
        .frozen(process.pid())
        .map(
            cgroup ->
                new Objection(
                    Refusal.PROCESS_FROZEN,
                    "process " + process + ": its cgroup " + cgroup + " is frozen"));
  }

  private String found(ProcessId process) {
    return proc.stat(process.pid())
        .map(now -> now.isZombie() ? "an ended one (zombie)" : "another, " + now.id())
        .orElse("none");
  }
}
