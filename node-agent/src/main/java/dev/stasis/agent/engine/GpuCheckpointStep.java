package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.cuda.GpuUuid;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The driver's Checkpoint of every process: copies device memory into the processes' own memory,
 * and releases the GPUs.
 */
final class GpuCheckpointStep implements Step<Freeze, FrozenWork> {

  /**
   * How long an undo waits for device memory that another process took meanwhile. Stasis itself
   * does not take it; the other process must end, which may need a user. The workload stays frozen
   * and complete after that.
   */
  static final Duration MEMORY_WAIT = Duration.ofMinutes(5);

  @Override
  public String name() {
    return "gpu-checkpoint";
  }

  @Override
  public String undoName() {
    return "gpu-restore";
  }

  @Override
  public void run(Freeze freeze) throws StepFailure, InterruptedException {
    freeze.requireRoom();
    freeze.rememberMaps();
    long begun = freeze.node().nanoTime().getAsLong();
    try (ThpSetting.Raised raised = freeze.raiseThp()) {
      freeze.copyByDriver(freeze.work().cuda(), freeze.node().calls()::checkpoint);
    }
    note(freeze, freeze.work().cuda(), CopyRates.Copy.GPU_CHECKPOINT, begun);
    freeze.isCheckpointed();
    List<CudaProcess> late = freeze.unknownCudaProcesses();
    if (!late.isEmpty()) {
      throw new StepFailure(
          Reason.DRIVER_ERROR,
          "process %s began to use CUDA while the others were checkpointed; try again"
              .formatted(late.get(0).process()));
    }
    freeze.requireNoLiveDevices();
  }

  @Override
  public void undo(FrozenWork frozen) throws StepFailure, InterruptedException {
    frozen.awaitDriver();
    List<CudaProcess> checkpointed = new ArrayList<>();
    Map<GpuUuid, Long> wanted = new TreeMap<>();
    for (CudaProcess process : frozen.cudaAlive()) {
      Optional<CudaState> state = frozen.node().calls().stateLeft(process);
      if (state.filter(CudaState.CHECKPOINTED::equals).isPresent()) {
        checkpointed.add(process);
        process.deviceBytes().forEach((gpu, bytes) -> wanted.merge(gpu, bytes, Long::sum));
      } else if (state.filter(CudaState.FAILED::equals).isPresent()) {
        throw new StepFailure(
            Reason.DRIVER_ERROR,
            "process %s: the driver reports FAILED; it must be ended to free the GPU"
                .formatted(process.process()));
      }
    }
    if (checkpointed.isEmpty()) {
      return;
    }
    try (GpuGate.Pass pass = frozen.node().gate().enter(wanted, MEMORY_WAIT)) {
      long begun = frozen.node().nanoTime().getAsLong();
      frozen.copyByDriver(
          checkpointed, process -> frozen.node().calls().restore(process, List.of()));
      note(frozen, checkpointed, CopyRates.Copy.GPU_RESTORE, begun);
    }
  }

  /** On the direct path, most of these bytes are not the driver's. */
  private static void note(
      FrozenWork frozen, List<CudaProcess> processes, CopyRates.Copy copy, long begun) {
    if (frozen.work().offloaded().isEmpty()) {
      long bytes = processes.stream().mapToLong(CudaProcess::totalBytes).sum();
      frozen.node().rates().note(copy, bytes, frozen.node().nanoTime().getAsLong() - begun);
    }
  }
}
