package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.node.AgentIdentity;
import dev.stasis.operator.node.AgentLife;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The agent of a node, as far as it can be counted on.
 *
 * @param node name of the node
 * @param nodeGone whether the node is no part of the cluster any more: whatever ran there does not
 * @param silent that it does not answer, in one sentence; empty: it does
 * @param against what stands against work there, silence included; empty: nothing
 * @param lastWord when it last said that it is alive; the epoch when it never did
 * @param identity how other agents reach it; empty while it has published nothing
 */
record AgentState(
    String node,
    boolean nodeGone,
    Optional<String> silent,
    Optional<String> against,
    Instant lastWord,
    Optional<AgentIdentity> identity) {

  private static final AgentLife LIFE = new AgentLife();

  static AgentState of(String node, boolean nodeGone, Optional<GpuNode> published, Instant now) {
    if (published.isEmpty()) {
      Optional<String> none =
          Optional.of("GpuNode " + node + ": wanted one published by the agent there, found none");
      return new AgentState(node, nodeGone, none, none, Instant.EPOCH, Optional.empty());
    }
    return new AgentState(
        node,
        nodeGone,
        LIFE.silent(published.get(), now).map(it -> "node " + node + ": " + it),
        LIFE.against(published.get(), now).map(it -> "node " + node + ": " + it),
        LIFE.lastWord(published.get()),
        Optional.ofNullable(published.get().getStatus().getAgent()));
  }

  /** Whether nobody waits for it. */
  boolean isAway() {
    return nodeGone || silent.isPresent();
  }

  /** Whether nobody waits for it any more, since something was asked of it at that time. */
  boolean isGivenUp(Instant asked, Duration after, Instant now) {
    Instant from = lastWord.isAfter(asked) ? lastWord : asked;
    return nodeGone || (silent.isPresent() && from.plus(after).isBefore(now));
  }
}
