package dev.stasis.agent.engine;

import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.ProcessId;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Continues the restored tree and verifies that it runs: the driver never returns from a call on a
 * stopped process. Before that, each thread is verified to have no more rights than the target pod,
 * no other process may exist that could have changed the threads while criu ran, and no restored
 * process may have ended.
 *
 * <p>Has no undo: a running tree is ended in the same way as a stopped one.
 */
final class ContinueStep implements Step<Restoring, FrozenWork> {

  @Override
  public String name() {
    return "continue";
  }

  @Override
  public void run(Restoring restoring) throws StepFailure, InterruptedException {
    NodeParts node = restoring.node();
    Optional<FailedRequirement> stranger = new Strangers(node).unmet(restoring.target());
    if (stranger.isPresent()) {
      throw new StepFailure(Reason.NOT_PROVEN, stranger.get().toString());
    }
    RestoredProcessCheck all =
        new RestoredProcessCheck(restoring.byOwnPid(), Set.of(), node.proc()::stat);
    all.requireAll();
    List<ProcessId> restored = new RestoredTree(restoring).restored();
    new RightsCheck(node).threads(restored, restoring.target(), true);
    // The last moment: once the tree runs, a parent may reap a killed child, which leaves no trace.
    all.requireAll();
    new StopStep().undo(restoring);
  }
}
