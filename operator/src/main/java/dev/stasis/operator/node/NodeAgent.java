package dev.stasis.operator.node;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.operator.cluster.Cluster;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The agent of a node, and whether it is available.
 *
 * @param nodeGone whether the node has left the cluster, so that nothing runs on it
 * @param silent why the agent does not respond, in one sentence; empty if it does
 * @param against what prevents work on the node, including a silent agent; empty if nothing does
 * @param lastWord the time of its last report; the epoch if there was none
 * @param identity how other agents reach it; empty if it has not published that
 */
public record NodeAgent(
    String node,
    boolean nodeGone,
    Optional<String> silent,
    Optional<String> against,
    Instant lastWord,
    Optional<AgentIdentity> identity) {

  private static final AgentLife LIFE = new AgentLife();

  public static NodeAgent of(Cluster cluster, String node, Instant now) {
    boolean nodeGone = cluster.node(node).isEmpty();
    Optional<GpuNode> published = cluster.gpuNode(node);
    if (published.isEmpty()) {
      Optional<String> none =
          Optional.of("GpuNode " + node + ": expected one published by the agent there, got none");
      return new NodeAgent(node, nodeGone, none, none, Instant.EPOCH, Optional.empty());
    }
    return new NodeAgent(
        node,
        nodeGone,
        LIFE.silent(published.get(), now).map(it -> "node " + node + ": " + it),
        LIFE.against(published.get(), now).map(it -> "node " + node + ": " + it),
        LIFE.lastWord(published.get()),
        Optional.ofNullable(published.get().getStatus()).map(status -> status.getAgent()));
  }

  /** Returns whether requests do not wait for it. */
  public boolean isAway() {
    return nodeGone || isSilent();
  }

  /** Returns whether it no longer reports. */
  public boolean isSilent() {
    return silent.isPresent();
  }

  /** Returns when it counts as silent if it sends no further report. */
  public Instant silentAt() {
    return lastWord.plus(AgentLife.SILENT_AFTER);
  }

  /**
   * Returns whether a request no longer waits for it.
   *
   * @param asked time of the request
   * @param after how long it may be silent since then
   */
  public boolean isGivenUp(Instant asked, Duration after, Instant now) {
    Instant from = lastWord.isAfter(asked) ? lastWord : asked;
    return nodeGone || (isSilent() && from.plus(after).isBefore(now));
  }
}
