package dev.stasis.agent.engine;

import dev.stasis.agent.preflight.Unmet;
import java.util.Optional;

/**
 * Lets the restored tree go and sees it run: the driver never returns from a call on a stopped
 * process. Not while another process is there that could have acted on criu.
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
    Optional<Unmet> stranger = new Strangers(restoring.node()).unmet(restoring.target());
    if (stranger.isPresent()) {
      throw new StepFailure(Reason.NOT_PROVEN, stranger.get().toString());
    }
    new StopStep().undo(restoring);
  }

  /** A tree that runs is ended as well as one that is stopped. */
  @Override
  public void undo(FrozenWork frozen) {}
}
