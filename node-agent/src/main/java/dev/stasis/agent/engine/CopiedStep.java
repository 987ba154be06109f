package dev.stasis.agent.engine;

import dev.stasis.agent.container.StoppedTree;
import dev.stasis.agent.container.TreeStopper;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.List;

/**
 * Waits for the copies that {@link OffloadStep} and {@link MoveStep} have started, and verifies
 * that the tree is still stopped: a copy of memory that a thread wrote meanwhile is useless.
 *
 * <p>Has no undo: the process still has everything that was copied, and the stage is removed with
 * the rest.
 */
final class CopiedStep implements Step<Freeze, FrozenWork> {

  /**
   * The stop becomes visible milliseconds after criu has detached; a large tree on a busy node
   * takes longer.
   */
  private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

  @Override
  public String name() {
    return "copied";
  }

  @Override
  public void run(Freeze freeze) throws StepFailure, InterruptedException {
    freeze.awaitCopies();
    List<ProcessId> tree = freeze.work().tree().stream().filter(freeze::alive).toList();
    List<ProcessId> running =
        new TreeStopper(freeze.node().proc())
            .awaitStopped(new StoppedTree(tree, List.of()), STOP_LIMIT);
    if (!running.isEmpty()) {
      throw new StepFailure(
          Reason.PROCESS_CONTROL,
          "copied memory: expected all processes to be stopped, got running " + running);
    }
    requireOwners(freeze);
  }

  /**
   * Until the stop, a process can end or execute another program. The artifact would have device
   * memory that no process of its images takes, and the driver would refuse to restore a program
   * that it does not know. On the driver's path, a process that has ended is not in the artifact.
   */
  private static void requireOwners(Freeze freeze) throws StepFailure {
    List<ProcessId> replaced = freeze.replaced();
    if (!replaced.isEmpty()) {
      throw new StepFailure(
          Reason.PROCESS_CONTROL,
          "device memory of processes %s: expected the programs that had it, got other programs"
              .formatted(replaced));
    }
    for (Offloaded one : freeze.work().offloaded()) {
      if (!freeze.alive(one.process()) || !freeze.node().keepers().active(one.process())) {
        throw new StepFailure(
            Reason.PROCESS_CONTROL,
            ("device memory of process %s: expected its program to be stopped, got one that has"
                    + " ended or was replaced by another program")
                .formatted(one.process()));
      }
    }
  }
}
