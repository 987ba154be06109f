package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Words;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/** {@code kubectl stasis nodes}: one line per node. */
public final class NodeTable implements Columns {

  /** As in the operator. */
  private static final Duration SILENT = Duration.ofMinutes(3);

  @Override
  public List<String> header() {
    return List.of("NODE", "GPUS", "DRIVER", "CRIU", "KERNEL", "FROZEN", "HEARD", "STATE");
  }

  @Override
  public Comparator<Resource> order() {
    return Comparator.comparing(Resource::name);
  }

  @Override
  public List<String> row(Resource node, Instant now) {
    return List.of(
        node.name(),
        gpus(node),
        node.text("status.host.driver"),
        node.text("status.host.criu"),
        node.text("status.host.kernel"),
        node.text("status.frozenPods"),
        Words.age(node.time("status.agent.heartbeatTime"), now),
        state(node, now));
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
