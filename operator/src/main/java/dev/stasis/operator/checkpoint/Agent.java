package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.node.GpuNodeStatus;
import dev.stasis.api.v1alpha1.node.NodeHost;
import dev.stasis.operator.node.AgentLife;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The agent of a node, as far as it can be counted on.
 *
 * @param turn in which it is looked at
 * @param node name of its node
 */
record Agent(Turn turn, String node) {

  private static final AgentLife LIFE = new AgentLife();

  /** Whether the node is no longer part of the cluster: whatever ran there does not. */
  boolean isNodeGone() {
    return turn.cluster().node(node).isEmpty();
  }

  /** Whether it speaks no more. */
  boolean isSilent() {
    return !lastWord().plus(AgentLife.SILENT_AFTER).isAfter(turn.now());
  }

  /** Whether the node never had one, or no more. */
  boolean isMissing() {
    return published().isEmpty();
  }

  /** What stands against work there, in one sentence; empty: nothing. */
  Optional<String> against() {
    Optional<GpuNode> published = published();
    if (published.isEmpty()) {
      return Optional.of(
          "GpuNode " + node + ": wanted one published by the agent there, found none");
    }
    return LIFE.against(published.get(), turn.now()).map(it -> "node " + node + ": " + it);
  }

  /** When it falls silent if it says no more. */
  Instant silentAt() {
    return lastWord().plus(AgentLife.SILENT_AFTER);
  }

  /** Whether nobody waits for it any more: its node is gone, or it has been silent too long. */
  boolean isGivenUp(Instant since) {
    if (isNodeGone()) {
      return true;
    }
    Instant heard = lastWord();
    Instant from = heard.isAfter(since) ? heard : since;
    return isSilent() && from.plus(turn.config().orphanAfter()).isBefore(turn.now());
  }

  /** The boot of the node that it last spoke of. */
  @Nullable String bootId() {
    return published()
        .map(GpuNode::getStatus)
        .map(GpuNodeStatus::getHost)
        .map(NodeHost::getBootId)
        .orElse(null);
  }

  private Instant lastWord() {
    return published().map(LIFE::lastWord).orElse(Instant.EPOCH);
  }

  private Optional<GpuNode> published() {
    return turn.cluster().gpuNode(node);
  }
}
