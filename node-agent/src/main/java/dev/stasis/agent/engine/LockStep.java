package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.cuda.GpuUuid;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Locks every CUDA process of the tree, and checks again until no new one appears: a process that
 * was inside cuInit at the first check would not be stopped by the GPU checkpoint and would break
 * it.
 */
final class LockStep implements Step<Freeze, FrozenWork> {

  /**
   * Each round handles the processes that the last one missed; a tree that starts CUDA processes
   * faster never becomes stable.
   */
  private static final int ROUNDS = 5;

  /** The driver ends a Lock at its timeout; its answer takes milliseconds. */
  private static final Duration LATE = Duration.ofSeconds(2);

  /** The driver has no event for its states; a locked workload waits this long at most. */
  private static final Duration LOOK_EVERY = Duration.ofMillis(200);

  @Override
  public String name() {
    return "lock";
  }

  @Override
  public String undoName() {
    return "unlock";
  }

  @Override
  public void run(Freeze freeze) throws StepFailure, InterruptedException {
    for (int round = 0; round < ROUNDS; round++) {
      List<CudaProcess> fresh = freeze.unknownCudaProcesses();
      if (fresh.isEmpty()) {
        freeze.requireOwnMemory();
        noteDeviceBytes(freeze);
        return;
      }
      List<CudaProcess> all = new ArrayList<>(freeze.work().cuda());
      all.addAll(fresh);
      lock(freeze, fresh, all);
    }
    throw new StepFailure(
        Reason.LOCK_TIMEOUT,
        "new CUDA processes appeared in each of %d checks; the last ones were %s"
            .formatted(ROUNDS, freeze.work().cuda()));
  }

  private static void lock(Freeze freeze, List<CudaProcess> fresh, List<CudaProcess> all)
      throws StepFailure, InterruptedException {
    Duration timeout = freeze.request().options().lockTimeout();
    Instant until = freeze.node().clock().instant().plus(timeout).plus(LATE);
    freeze.note(work -> work.withCuda(all).withLockUntil(until));
    try {
      freeze
          .node()
          .parallel()
          .forEach(fresh, process -> freeze.node().calls().lock(process, timeout));
    } catch (StepFailure e) {
      if (!e.isAny(Reason.DRIVER_HANG)) {
        freeze.noteIfPossible(work -> work.withLockUntil(null));
      }
      throw e;
    }
    freeze.note(work -> work.withLockUntil(null));
  }

  /** The memory of each, once no process can allocate. */
  private static void noteDeviceBytes(Freeze freeze) throws StepFailure {
    List<CudaProcess> measured = new ArrayList<>();
    for (CudaProcess one : freeze.work().cuda()) {
      Map<GpuUuid, Long> bytes = freeze.deviceBytes(one.process());
      measured.add(new CudaProcess(one.process(), one.restoreThread(), bytes));
    }
    freeze.note(work -> work.withCuda(measured));
  }

  @Override
  public void undo(FrozenWork frozen) throws StepFailure, InterruptedException {
    frozen
        .node()
        .parallel()
        .forEach(
            frozen.cudaAlive(),
            process -> {
              Optional<CudaState> state = settled(frozen, process);
              if (state.isEmpty()) {
                return;
              }
              switch (state.get()) {
                case RUNNING -> {}
                case LOCKED -> frozen.node().calls().unlock(process);
                default ->
                    throw new StepFailure(
                        Reason.DRIVER_ERROR,
                        "process %s: expected LOCKED or RUNNING before Unlock, got %s"
                            .formatted(process.process(), state.get()));
              }
            });
  }

  /**
   * A Lock waits in the driver until no kernel runs. If its agent or its worker has died, it may
   * still lock a process that runs now.
   */
  private static Optional<CudaState> settled(FrozenWork frozen, CudaProcess process)
      throws StepFailure, InterruptedException {
    Instant until = frozen.work().lockUntil();
    // Only the record needs a time that another agent can read. That clock may be set meanwhile.
    Duration left =
        until == null ? Duration.ZERO : Duration.between(frozen.node().clock().instant(), until);
    long begun = frozen.node().nanoTime().getAsLong();
    Optional<CudaState> state = frozen.node().calls().stateLeft(process);
    while (state.filter(CudaState.RUNNING::equals).isPresent()
        && frozen.node().nanoTime().getAsLong() - begun < left.toNanos()
        && frozen.alive(process.process())) {
      LockSupport.parkNanos(LOOK_EVERY.toNanos());
      if (Thread.interrupted()) {
        throw new InterruptedException("waiting for a Lock of " + process.process());
      }
      state = frozen.node().calls().stateLeft(process);
    }
    return state;
  }
}
