package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.ProcessStat;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Processes of a target that were not restored: an exec session, a container that shares its pid
 * namespace, an ephemeral container. With SYS_PTRACE such a process could take over criu, so there
 * must be none when criu starts.
 */
final class Strangers {

  /**
   * The kubelet's probes are processes of the container too: stasis-runtime probe, which ends in
   * milliseconds. This is for a node that swaps.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final NodeParts node;
  private final Duration patience;

  Strangers(NodeParts node) {
    this(node, PATIENCE);
  }

  Strangers(NodeParts node, Duration patience) {
    this.node = node;
    this.patience = patience;
  }

  /** Waits for those that end by themselves, and returns those that do not. */
  Optional<FailedRequirement> unmet(Container target) {
    long until = node.nanoTime().getAsLong() + patience.toNanos();
    while (true) {
      List<ProcessStat> found = node.tree().strangers(target);
      long left = until - node.nanoTime().getAsLong();
      if (found.isEmpty()) {
        return Optional.empty();
      }
      if (left <= 0 || !node.pids().awaitEnd(found.get(0).id(), Duration.ofNanos(left))) {
        return Optional.of(
            new FailedRequirement(
                "target container",
                "no processes except the holder and its own",
                found.stream()
                    .map(stat -> "%s (%s)".formatted(stat.id(), stat.comm()))
                    .limit(8)
                    .toList()
                    .toString()));
      }
    }
  }
}
