package dev.stasis.agent.cuda;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Finds out what became of a call whose worker is gone. The target's own thread finishes the copy;
 * until it is idle GetState hangs or says CHECKPOINTED (LOCKED in a Restore) too early. So: wait
 * for that thread, and only then read the state afresh.
 */
public final class SettledState {

  /** What the wait came to. */
  public sealed interface Outcome {
    /** The thread is idle, and this is what the driver says now. */
    record Settled(DriverAnswer<CudaCall> state) implements Outcome {}

    /** It was still at work, stopped or traced at the deadline: {@code state} is its letter. */
    record StillBusy(char state, Duration waited) implements Outcome {}

    /** The process or the thread has ended. */
    record Gone() implements Outcome {}
  }

  /** Seen on an H200: between two phases of a copy the thread never sleeps as long as this. */
  private static final Duration QUIET = Duration.ofSeconds(1);

  /** The kernel tells nobody that a thread went idle; CPU time moves in steps of 10 ms. */
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
   * Waits until the thread is idle (state S, CPU time unchanged for a second), then asks.
   *
   * @param restoreThread as {@link CudaDriver#restoreThread} told before the call went astray
   * @param patience for the wait: the deadline that the call itself had is a good one
   * @param deadline for GetState afterwards
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
    // The folder of a process's threads is laid out like /proc itself.
    return new ProcFs(proc.folder(process.pid()).resolve("task")).stat(tid);
  }
}
