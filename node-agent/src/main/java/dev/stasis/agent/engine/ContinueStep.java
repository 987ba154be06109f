package dev.stasis.agent.engine;

/**
 * Lets the restored tree go and sees it run: the driver never returns from a call on a stopped
 * process.
 */
final class ContinueStep implements Step<Restoring, FrozenWork> {

  @Override
  public String name() {
    return "continue";
  }

  @Override
  public String undoName() {
    return "keep-running";
  }

  @Override
  public void run(Restoring restoring) throws StepFailure {
    new StopStep().undo(restoring);
  }

  /** A tree that runs is ended as well as one that is stopped. */
  @Override
  public void undo(FrozenWork frozen) {}
}
