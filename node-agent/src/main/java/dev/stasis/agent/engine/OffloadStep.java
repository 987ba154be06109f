package dev.stasis.agent.engine;

/**
 * Passes large allocations to the keeper, so that the driver's Checkpoint copies only the small
 * remainder. Until the first of them has left its process, a failure falls back to the driver's
 * path.
 */
final class OffloadStep implements Step<Freeze, FrozenWork> {

  @Override
  public String name() {
    return "offload";
  }

  @Override
  public String undoName() {
    return "reload";
  }

  @Override
  public void run(Freeze freeze) throws StepFailure, InterruptedException {
    if (freeze.dataPath() instanceof DataPath.Direct direct) {
      new Offload(freeze, direct).run();
    }
  }

  @Override
  public void undo(FrozenWork frozen) throws StepFailure, InterruptedException {
    new Reload(frozen).run();
  }
}
