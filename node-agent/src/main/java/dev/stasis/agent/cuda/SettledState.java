package dev.stasis.agent.cuda;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Determines the outcome of a call after the worker was lost. A thread of the target process itself
 * finishes the copy. Until it is idle, GetState hangs or reports CHECKPOINTED (LOCKED during a
 * Restore) too early. So this waits for that thread, and only then reads the state.
 */
public final class SettledState {

  /** The outcome of the wait. */
  public sealed interface Outcome {
    /** The thread is idle, and this is the driver's current state. */
    record Settled(DriverAnswer<CudaCall> state) implements Outcome {}

    /**
     * The thread was still working, stopped or traced at the deadline; {@code state} is its letter.
     */
    record StillBusy(char state, Duration waited) implements Outcome {}

    /** The process or the thread has ended. */
    record Gone() implements Outcome {}
  }

  /** Seen on an H200: between two phases of a copy the thread never sleeps for this long. */
  private static final Duration QUIET = Duration.ofSeconds(1);

  /** The kernel sends no event when a thread becomes idle; CPU time has a resolution of 10 ms. */
  private static final Duration INTERVAL = Duration.ofMillis(50);

  private final ProcFs proc;
  private final LongSupplier nanoTime;

  public SettledState(ProcFs proc) {
    this(proc, System::nanoTime);
  }

  SettledState(ProcFs proc, LongSupplier nanoTime) {
    this.proc = proc;
    this.nanoTime = nanoTime;
  }

  /**
   * Waits until the thread is idle (state S, CPU time unchanged for a second), then reads the
   * state.
   *
   * @param restoreThread the result of {@link CudaDriver#restoreThread} before the lost call
   * @param patience limit of the wait; the deadline of the lost call is a good value
   * @param deadline deadline of GetState afterwards
   */
  public Outcome await(
      CudaDriver driver,
      ProcessId process,
      int restoreThread,
      Duration patience,
      Duration deadline) {
    long begin = nanoTime.getAsLong();
    long quietSince = begin;
    long ticks = -1;
    while (true) {
      Optional<ProcessStat> thread = thread(process, restoreThread);
      if (thread.isEmpty()) {
        return new Outcome.Gone();
      }
      long now = nanoTime.getAsLong();
      char state = thread.get().state();
      if (state != 'S' || thread.get().cpuTicks() != ticks) {
        ticks = thread.get().cpuTicks();
        quietSince = now;
      } else if (now - quietSince >= QUIET.toNanos()) {
        return new Outcome.Settled(driver.state(process, deadline));
      }
      if (now - begin >= patience.toNanos()) {
        return new Outcome.StillBusy(state, Duration.ofNanos(now - begin));
      }
      LockSupport.parkNanos(INTERVAL.toNanos());
      if (Thread.currentThread().isInterrupted()) {
        return new Outcome.StillBusy(state, Duration.ofNanos(nanoTime.getAsLong() - begin));
      }
    }
  }

  private Optional<ProcessStat> thread(ProcessId process, int tid) {
    if (!proc.alive(process)) {
      return Optional.empty();
    }
    // The folder of a process's threads has the layout of /proc.
    return new ProcFs(proc.folder(process.pid()).resolve("task")).stat(tid);
  }
}
