package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.process.PidFd;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Ends what has come back of a workload in a target, when the restore cannot go on: until the proof
 * the artifact is the only whole copy, and two must never be.
 */
final class RestoredTree {

  /**
   * A killed process is gone at once; giving back a hundred gigabytes takes the kernel some
   * seconds.
   */
  private static final Duration END_LIMIT = Duration.ofSeconds(60);

  /** The holder ends within milliseconds of its workload. */
  private static final Duration HOLDER_LIMIT = Duration.ofSeconds(5);

  /** A tree that is being made may fork while it is killed. */
  private static final int ROUNDS = 5;

  private final FrozenWork frozen;

  RestoredTree(FrozenWork frozen) {
    this.frozen = frozen;
  }

  /** Everything in the target but its holder. */
  List<ProcessId> processes() {
    return listed(true);
  }

  /**
   * What was restored. The kubelet's probes and exec sessions are in the target, too, and have all
   * rights for a moment, until the runtime has taken them away.
   */
  List<ProcessId> restored() {
    Set<ProcessId> all = new LinkedHashSet<>(frozen.work().tree());
    all.addAll(listed(false));
    return List.copyOf(all);
  }

  private List<ProcessId> listed(boolean withForeign) {
    if (!(frozen.node().containers().resolve(frozen.work().containerId())
        instanceof Resolution.Found found)) {
      return List.of();
    }
    Container target = found.container();
    List<ProcessId> all = new ArrayList<>();
    List<ProcessStat> listed = new ArrayList<>(frozen.node().tree().list(target).members());
    if (withForeign) {
      listed.addAll(frozen.node().tree().list(target).foreign());
    }
    for (ProcessStat stat : listed) {
      if (!stat.isZombie() && !stat.id().equals(target.init())) {
        all.add(stat.id());
      }
    }
    return all;
  }

  /**
   * A holder whose workload was killed ends with it, and is not in the container's cgroup by then.
   */
  private boolean holderEnds() {
    return !frozen.alive(frozen.work().init())
        || frozen
            .node()
            .pids()
            .open(frozen.work().init())
            .map(holder -> closing(holder))
            .orElse(true);
  }

  private static boolean closing(PidFd holder) {
    try (holder) {
      return holder.awaitEnd(HOLDER_LIMIT);
    }
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
        return new SourceState(SourceState.Kind.GONE, "nothing of the workload runs in the target");
      }
      left = new Evicted.Killing(frozen.node().pids()).kill(all, END_LIMIT);
    }
    return new SourceState(
        SourceState.Kind.UNKNOWN, "processes in the target that do not end: " + left);
  }
}
