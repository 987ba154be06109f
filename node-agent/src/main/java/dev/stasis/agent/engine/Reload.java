package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.direct.Gate;
import dev.stasis.agent.direct.Keeper;
import dev.stasis.agent.direct.KeeperFailure;
import dev.stasis.agent.process.ProcessId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;

/**
 * Gives offloaded memory back and opens the gates. It reads the state of the processes and of the
 * keeper, and completes what is missing, so it may run at any time and any number of times, with a
 * new keeper if the first one has died.
 */
final class Reload {

  /** A keeper that dies is replaced; one that dies each time indicates a permanent problem. */
  private static final int KEEPERS = 3;

  /**
   * Another process that took the device memory meanwhile must end; the workload stays complete
   * until then.
   */
  private static final Duration MEMORY_WAIT = GpuCheckpointStep.MEMORY_WAIT;

  /** How long memory is waited for before the copy for the artifact is given up: a short freeze. */
  private static final Duration COPY_PATIENCE = Duration.ofSeconds(2);

  /** No event reports that device memory becomes free; an attempt costs a millisecond. */
  private static final Duration TRY_EVERY = Duration.ofMillis(200);

  private final FrozenWork frozen;

  Reload(FrozenWork frozen) {
    this.frozen = frozen;
  }

  void run() throws StepFailure, InterruptedException {
    List<Offloaded> all = frozen.work().offloaded();
    if (all.stream().noneMatch(one -> frozen.alive(one.process()))) {
      return;
    }
    for (int tries = 1; ; tries++) {
      try (Keeper keeper = frozen.node().keepers().open(frozen.work().containerId())) {
        reload(keeper, all);
        return;
      } catch (KeeperFailure e) {
        if (!e.connectionLost() || tries == KEEPERS) {
          throw new StepFailure(
              e.isOutOfMemory() ? Reason.NO_ROOM : Reason.REGION_MOVE,
              "device memory of the direct path: " + e.getMessage(),
              e);
        }
      }
    }
  }

  private void reload(Keeper keeper, List<Offloaded> all)
      throws KeeperFailure, StepFailure, InterruptedException {
    for (Offloaded one : all) {
      attached(
          keeper,
          one,
          state -> {
            if (state.isAway()) {
              memoryOf(keeper, one);
            }
          });
    }
    // A process may wait for another one as soon as it runs.
    for (Offloaded one : all) {
      attached(
          keeper,
          one,
          state -> {
            if (state != Gate.State.OPEN) {
              keeper.open(one.process());
            }
          });
    }
  }

  private interface Action {
    void on(Gate.State state) throws KeeperFailure, StepFailure, InterruptedException;
  }

  /**
   * Connects to the library of a process and acts. Nothing is left to give back if the process has
   * ended, or runs another program by now (exec), even while this acts: the other processes must
   * not wait at their gates for that.
   */
  private void attached(Keeper keeper, Offloaded one, Action action)
      throws KeeperFailure, StepFailure, InterruptedException {
    ProcessId process = one.process();
    if (!frozen.alive(process)) {
      return;
    }
    try {
      action.on(keeper.attach(process).state());
    } catch (KeeperFailure e) {
      if (e.connectionLost()
          || (frozen.alive(process) && frozen.node().keepers().active(process))) {
        throw e;
      }
    }
  }

  private void memoryOf(Keeper keeper, Offloaded one)
      throws KeeperFailure, StepFailure, InterruptedException {
    Set<GpuUuid> gpus = new TreeSet<>(one.deviceBytes().keySet());
    long until = frozen.node().nanoTime().getAsLong() + MEMORY_WAIT.toNanos();
    long forgetAt = frozen.node().nanoTime().getAsLong() + COPY_PATIENCE.toNanos();
    // Another Restore that has seen the memory free must not lose it to us.
    try (GpuGate.Pass pass = frozen.node().gate().hold(gpus, MEMORY_WAIT)) {
      while (true) {
        try {
          keeper.use(gpus);
          if (one.file() == null || keeper.holds(one.process())) {
            keeper.reload(one.process(), one.totalBytes());
          } else {
            keeper.reload(one.process(), Path.of(one.file()), one.totalBytes());
          }
          return;
        } catch (KeeperFailure e) {
          if (!e.isOutOfMemory() || frozen.node().nanoTime().getAsLong() >= until) {
            throw e;
          }
          if (frozen.node().nanoTime().getAsLong() >= forgetAt) {
            // The workload is more important than the artifact for which the copy was made.
            keeper.forget(one.process());
          }
          LockSupport.parkNanos(TRY_EVERY.toNanos());
          if (Thread.interrupted()) {
            throw new InterruptedException("waiting for device memory");
          }
        }
      }
    }
  }
}
