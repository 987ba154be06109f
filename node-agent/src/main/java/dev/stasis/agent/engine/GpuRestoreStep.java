package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.ProcessFacts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The driver's Restore: it takes the GPUs again and restores the device memory, after waiting until
 * the memory is free.
 */
final class GpuRestoreStep implements Step<Restoring, FrozenWork> {

  private static final System.Logger LOG = System.getLogger(GpuRestoreStep.class.getName());

  @Override
  public String name() {
    return "gpu-restore";
  }

  @Override
  public String undoName() {
    return "gpu-checkpoint";
  }

  @Override
  public void run(Restoring restoring) throws StepFailure, InterruptedException {
    List<CudaProcess> processes = new ArrayList<>();
    Map<GpuUuid, Long> wanted = restoring.deviceBytes();
    for (ProcessFacts facts : restoring.cudaFacts()) {
      ProcessId process = Objects.requireNonNull(restoring.byOwnPid().get(facts.ownPid()));
      Map<GpuUuid, Long> bytes = restoring.moved(facts.gpuBytes());
      processes.add(new CudaProcess(process, restoreThread(restoring, process), bytes));
    }
    restoring.note(work -> work.withCuda(processes));
    Duration wait = restoring.request().options().memoryWait();
    try (GpuGate.Pass pass = restoring.node().gate().enter(wanted, wait)) {
      long begun = restoring.node().nanoTime().getAsLong();
      restoring
          .node()
          .parallel()
          .forEach(
              processes, process -> restoring.node().calls().restore(process, restoring.map()));
      if (restoring.artifact().manifest().deviceSets().isEmpty()) {
        restoring
            .node()
            .rates()
            .note(
                CopyRates.Copy.GPU_RESTORE,
                wanted.values().stream().mapToLong(Long::longValue).sum(),
                restoring.node().nanoTime().getAsLong() - begun);
      }
    }
  }

  private static int restoreThread(Restoring restoring, ProcessId process) throws StepFailure {
    DriverAnswer<CudaCall> answer = restoring.node().driver().restoreThread(process);
    if (answer instanceof DriverAnswer.Done<CudaCall> done
        && done.value().restoreThread().isPresent()) {
      return done.value().restoreThread().getAsInt();
    }
    throw new StepFailure(
        Reason.DRIVER_ERROR,
        "process %s: expected a CUDA process, got %s".formatted(process, answer.describe()));
  }

  /**
   * Killing a process that uses a GPU hung a host with one driver, so it is checkpointed first if
   * possible. Otherwise it is still killed, because there must never be two copies.
   */
  @Override
  public void undo(FrozenWork frozen) throws InterruptedException {
    for (CudaProcess process : frozen.cudaAlive()) {
      try {
        if (frozen.node().calls().state(process) == CudaState.LOCKED) {
          frozen.node().calls().checkpoint(process);
        }
      } catch (StepFailure e) {
        LOG.log(System.Logger.Level.WARNING, "ended without a GPU checkpoint: " + e.getMessage());
      }
    }
  }
}
