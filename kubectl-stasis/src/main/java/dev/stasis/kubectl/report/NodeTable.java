package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Table;
import dev.stasis.kubectl.screen.Words;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/** {@code kubectl stasis nodes}: one line per node. */
public final class NodeTable {

  /** As in the operator. */
  private static final Duration SILENT = Duration.ofMinutes(3);

  /** Returns the table; an empty text if there are no rows. */
  public String text(List<Resource> nodes, Instant now) {
    Table table = new Table("NODE", "GPUS", "DRIVER", "CRIU", "KERNEL", "FROZEN", "HEARD", "STATE");
    nodes.stream()
        .sorted(Comparator.comparing(Resource::name))
        .forEach(
            node ->
                table.add(
                    node.name(),
                    gpus(node),
                    node.text("status.host.driver"),
                    node.text("status.host.criu"),
                    node.text("status.host.kernel"),
                    node.text("status.frozenPods"),
                    Words.age(node.time("status.agent.heartbeatTime"), now),
                    state(node, now)));
    return table.isEmpty() ? "" : table.toString();
  }

  static String gpus(Resource node) {
    long count = node.number("status.gpuCount");
    return count == 0 ? "none" : count + " x " + node.text("status.gpuModel");
  }

  /** Ready, Silent, or the first reason that keeps the agent from working. */
  public static String state(Resource node, Instant now) {
    boolean heard =
        node.time("status.agent.heartbeatTime")
            .filter(at -> at.plus(SILENT).isAfter(now))
            .isPresent();
    if (!heard) {
      return "Silent";
    }
    return node.is("Ready") ? "Ready" : node.text("status.reason");
  }
}
