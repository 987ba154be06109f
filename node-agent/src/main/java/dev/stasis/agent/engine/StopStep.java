package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Freezer;
import dev.stasis.agent.container.StopOutcome;
import dev.stasis.agent.container.StoppedTree;
import dev.stasis.agent.container.TreeStopper;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Stops the whole tree, so that it does not change between the choice of regions and the end of the
 * packing. The undo continues it and verifies that it runs: the driver never returns from a call on
 * a stopped process.
 */
final class StopStep implements Step<Freeze, FrozenWork> {

  /**
   * Stopping takes milliseconds; a tree of thousands, or one in the middle of a vfork, may need
   * some attempts.
   */
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** Operations on files take milliseconds. One on a socket or a pipe may take forever. */
  private static final Duration DRAIN_LIMIT = Duration.ofSeconds(5);

  /** A probe that asks the workload needs its answer before it ends. */
  private static final Duration RUN_ON = Duration.ofMillis(20);

  static final String NAME = "stop";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String undoName() {
    return "continue";
  }

  @Override
  public void run(Freeze freeze) throws StepFailure, InterruptedException {
    TreeStopper stopper = new TreeStopper(freeze.node().proc());
    long until = System.nanoTime() + DRAIN_LIMIT.toNanos();
    StoppedTree tree = stop(freeze, stopper);
    List<FailedRequirement> busy = freeze.requirePortable();
    // An obstacle that may disappear does so only while the program runs.
    while (!busy.isEmpty()
        && busy.stream().allMatch(Inspection::mayPass)
        && System.nanoTime() < until) {
      resume(stopper, tree);
      LockSupport.parkNanos(RUN_ON.toNanos());
      if (Thread.interrupted()) {
        throw new InterruptedException("waiting for " + busy);
      }
      tree = stop(freeze, stopper);
      busy = freeze.requirePortable();
    }
    Freeze.refuse(busy);
  }

  private static StoppedTree stop(Freeze freeze, TreeStopper stopper) throws StepFailure {
    // Recorded before the first signal: a reader then knows that stopped processes were stopped by
    // us, except these.
    List<ProcessStat> members = freeze.listAgain().members();
    List<ProcessId> before =
        members.stream().filter(ProcessStat::isStopped).map(ProcessStat::id).toList();
    List<ProcessId> listed = members.stream().map(ProcessStat::id).toList();
    freeze.note(work -> work.withTree(listed, before));
    StopOutcome outcome = stopper.stop(freeze.source(), listed, LIMIT);
    if (outcome instanceof StopOutcome.NotStopped not) {
      throw new StepFailure(Reason.PROCESS_CONTROL, not.why());
    }
    StoppedTree tree = ((StopOutcome.Stopped) outcome).tree();
    List<ProcessId> all = new ArrayList<>(tree.stopped());
    all.addAll(tree.stoppedBefore());
    // The program may have stopped or continued some of them since.
    freeze.note(work -> work.withTree(all, tree.stoppedBefore()));
    return tree;
  }

  /** Continues a tree. A process that stays stopped must not count as stopped by the program. */
  private static void resume(TreeStopper stopper, StoppedTree tree) throws StepFailure {
    List<ProcessId> still = stopper.resume(tree, LIMIT);
    if (!still.isEmpty()) {
      throw new StepFailure(
          Reason.PROCESS_CONTROL,
          "SIGCONT: expected all processes to be running, got stopped after %d s: %s"
              .formatted(LIMIT.toSeconds(), still));
    }
  }

  @Override
  public void undo(FrozenWork frozen) throws StepFailure {
    if (frozen.work().tree().isEmpty()) {
      return;
    }
    Optional<Container> container = frozen.container();
    if (container.isPresent()) {
      Optional<Freezer> freezer = Freezer.of(container.get());
      if (freezer.isPresent() && freezer.get().isFrozen() && !freezer.get().thaw(LIMIT)) {
        throw new StepFailure(
            Reason.PROCESS_CONTROL,
            ("cgroup of container %s: expected a thawed cgroup, got a frozen one (by a parent"
                    + " cgroup, or by another program)")
                .formatted(container.get().id()));
      }
    }
    Set<ProcessId> ours = new LinkedHashSet<>(frozen.work().tree());
    container.ifPresent(
        found -> ours.addAll(frozen.node().tree().listAgain(found, List.copyOf(ours)).living()));
    frozen.work().stoppedBefore().forEach(ours::remove);
    resume(
        new TreeStopper(frozen.node().proc()),
        new StoppedTree(List.copyOf(ours), frozen.work().stoppedBefore()));
    frozen.noteIfPossible(work -> work.withTree(List.of(), List.of()));
  }
}
