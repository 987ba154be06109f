package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.cuda.GpuUuid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

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
      freeze.note(work -> work.withCuda(all));
      freeze
          .node()
          .parallel()
          .forEach(
              fresh,
              process ->
                  freeze.node().calls().lock(process, freeze.request().options().lockTimeout()));
    }
    throw new StepFailure(
        Reason.LOCK_TIMEOUT,
        "new CUDA processes appeared in each of %d checks; the last ones were %s"
            .formatted(ROUNDS, freeze.work().cuda()));
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
              CudaState state = frozen.node().calls().state(process);
              switch (state) {
                case RUNNING -> {}
                case LOCKED -> frozen.node().calls().unlock(process);
                default ->
                    throw new StepFailure(
                        Reason.DRIVER_ERROR,
                        "process %s: expected LOCKED or RUNNING before Unlock, got %s"
                            .formatted(process.process(), state));
              }
            });
  }
}
