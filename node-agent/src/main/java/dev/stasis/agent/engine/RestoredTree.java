package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.ProcessTree;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Ends the restored processes in a target if the restore cannot continue: until the verification
 * the artifact is the only complete copy, and there must never be two.
 */
final class RestoredTree {

  /**
   * A killed process is gone immediately; freeing a hundred gigabytes takes the kernel some
   * seconds.
   */
  private static final Duration END_LIMIT = Duration.ofSeconds(60);

  /** The holder ends within milliseconds of its workload. */
  private static final Duration HOLDER_LIMIT = Duration.ofSeconds(5);

  /** A tree that is being restored may fork while it is killed. */
  private static final int ROUNDS = 5;

  private final FrozenWork frozen;

  RestoredTree(FrozenWork frozen) {
    this.frozen = frozen;
  }

  /** Everything in the target except its holder. */
  List<ProcessId> processes() {
    return listed(true);
  }

  /** The processes below the holder, without the kubelet's probes and exec sessions. */
  List<ProcessId> members() {
    return listed(false);
  }

  /**
   * The restored processes. The kubelet's probes and exec sessions are in the target too, and have
   * all rights for a moment, until the runtime has dropped them.
   */
  List<ProcessId> restored() {
    Set<ProcessId> all = new LinkedHashSet<>(frozen.work().tree());
    all.addAll(members());
    return List.copyOf(all);
  }

  private List<ProcessId> listed(boolean withForeign) {
    Work work = frozen.work();
    if (!(frozen.node().containers().again(work.containerId()) instanceof Resolution.Found found)) {
      return List.of();
    }
    Container target = found.container();
    ProcessTree tree = frozen.node().tree();
    // Before anything is killed, what is outside the cgroups is searched too.
    ProcessTree.Listing listing =
        withForeign ? tree.list(target) : tree.listAgain(target, work.tree());
    List<ProcessId> all = new ArrayList<>();
    List<ProcessStat> listed = new ArrayList<>(listing.members());
    if (withForeign) {
      listed.addAll(listing.foreign());
    }
    for (ProcessStat stat : listed) {
      if (!stat.isZombie() && !stat.id().equals(target.init())) {
        all.add(stat.id());
      }
    }
    return all;
  }

  /** A holder ends with its killed workload, and is then no longer in the container's cgroup. */
  private boolean holderEnds() {
    return frozen.node().pids().awaitEnd(frozen.work().init(), HOLDER_LIMIT);
  }

  SourceState end() {
    List<ProcessId> left = List.of();
    for (int round = 0; round < ROUNDS; round++) {
      if (frozen.node().containers().resolve(frozen.work().containerId())
              instanceof Resolution.Refused refused
          && !holderEnds()) {
        return new SourceState(
            SourceState.Kind.UNKNOWN, "processes in the target cannot be listed: " + refused.why());
      }
      List<ProcessId> all = processes();
      if (all.isEmpty()) {
        return new SourceState(
            SourceState.Kind.GONE, "no process of the workload runs in the target");
      }
      left = new Evicted.Killing(frozen.node().pids()).kill(all, END_LIMIT);
    }
    return new SourceState(
        SourceState.Kind.UNKNOWN, "processes in the target still running after SIGKILL: " + left);
  }
}
