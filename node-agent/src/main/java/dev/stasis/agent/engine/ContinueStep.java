package dev.stasis.agent.engine;

import dev.stasis.agent.preflight.Unmet;
import dev.stasis.agent.process.ProcessId;
import java.util.List;
import java.util.Optional;

/**
 * Lets the restored tree go and sees it run: the driver never returns from a call on a stopped
 * process. Not before each of its threads is seen to have no more rights than the target's pod, and
 * no other process is there that could have changed that while criu worked.
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
    NodeParts node = restoring.node();
    Optional<Unmet> stranger = new Strangers(node).unmet(restoring.target());
    if (stranger.isPresent()) {
      throw new StepFailure(Reason.NOT_PROVEN, stranger.get().toString());
    }
    List<ProcessId> restored = new RestoredTree(restoring).restored();
    new RightsCheck(node).threads(restored, restoring.target(), true);
    new StopStep().undo(restoring);
  }

  /** A tree that runs is ended as well as one that is stopped. */
  @Override
  public void undo(FrozenWork frozen) {}
}
