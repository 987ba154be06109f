package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaState;
import java.time.Duration;

/** Unlocks the workload's CUDA calls. */
final class UnlockStep implements Step<Restoring, FrozenWork> {

  /** Long enough for kernels of a workload that has just resumed. */
  private static final Duration LOCK_AGAIN = Duration.ofSeconds(10);

  private static final System.Logger LOG = System.getLogger(UnlockStep.class.getName());

  @Override
  public String name() {
    return "unlock";
  }

  @Override
  public String undoName() {
    return "lock";
  }

  @Override
  public void run(Restoring restoring) throws StepFailure, InterruptedException {
    restoring.memory().measure(restoring.restoredByDriver());
    restoring
        .node()
        .parallel()
        .forEach(restoring.work().cuda(), process -> restoring.node().calls().unlock(process));
  }

  /** Locked again, so that it can be checkpointed before it is ended. */
  @Override
  public void undo(FrozenWork frozen) throws InterruptedException {
    for (CudaProcess process : frozen.cudaAlive()) {
      try {
        if (frozen.node().calls().state(process) == CudaState.RUNNING) {
          frozen.node().calls().lock(process, LOCK_AGAIN);
        }
      } catch (StepFailure e) {
        LOG.log(System.Logger.Level.WARNING, "ended without a lock: " + e.getMessage());
      }
    }
  }
}
