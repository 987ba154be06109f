package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcFs;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Waits until a container's first process executes the container's program. runc reports a
 * container as running while that process is still {@code runc init}.
 */
final class ProgramStart {

  /** Usually microseconds. On a node with many more runnable threads than processors, seconds. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final long LOOK_EVERY_NANOS = Duration.ofMillis(5).toNanos();

  private final ProcFs proc;
  private final LongSupplier nanoTime;

  ProgramStart(ProcFs proc, LongSupplier nanoTime) {
    this.proc = proc;
    this.nanoTime = nanoTime;
  }

  /** Returns when the program has started, has ended, or did not start in time. */
  void await(int pid) throws InterruptedException {
    long until = nanoTime.getAsLong() + PATIENCE.toNanos();
    while (isRuntime(proc.command(pid)) && nanoTime.getAsLong() < until) {
      // The kernel has no event for an exec of a process that is not a traced child.
      LockSupport.parkNanos(LOOK_EVERY_NANOS);
      if (Thread.interrupted()) {
        throw new InterruptedException("waiting for the program of process " + pid);
      }
    }
  }

  private static boolean isRuntime(List<String> command) {
    return command.size() > 1
        && command.get(1).equals("init")
        && !command.get(0).endsWith("stasis-runtime");
  }
}
