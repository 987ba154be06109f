package dev.stasis.operator.node;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.Capability;
import dev.stasis.compat.NodeFacts;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The labels of a node below {@code topology.stasis.dev/}. They promise the scheduler that a target
 * placed by them can be restored there.
 *
 * <p>They are removed immediately when the GpuNode is gone, cannot be read, or has an agent that
 * cannot restore. If the agent is silent or not ready, they are kept for {@link #GRACE}: starting a
 * new version must not remove the labels from every node, and a target that waits there continues
 * when the agent is back.
 */
public final class NodeLabels {

  /** Enough to pull an image and start, and more than an agent needs to count as silent. */
  public static final Duration GRACE = Duration.ofMinutes(10);

  private final FactsReader reader = new FactsReader();
  private final AgentLife life = new AgentLife();

  /**
   * The labels that a node should have.
   *
   * @param labels all labels of Stasis
   * @param until when they must be evaluated again in any case; empty if an event will trigger that
   */
  public record Wanted(SortedMap<String, String> labels, Optional<Instant> until) {}

  /** Determines the labels. */
  public Wanted wanted(Optional<GpuNode> node, Instant now) {
    if (node.isEmpty()
        || isDeleted(node.get())
        || !restores(node.get())
        || !(reader.read(node.get()) instanceof FactsReader.Facts read)) {
      return new Wanted(new TreeMap<>(), Optional.empty());
    }
    Instant end = life.awaySince(node.get(), now).orElse(life.lastWord(node.get())).plus(GRACE);
    if (!end.isAfter(now)) {
      return new Wanted(new TreeMap<>(), Optional.empty());
    }
    return new Wanted(read.facts().labels(), Optional.of(end));
  }

  /**
   * Returns whether the labels must be evaluated after a change of the GpuNode. A heartbeat of an
   * available agent only moves the end of its grace period: they are evaluated at the earlier end
   * in any case, and again at the later one.
   */
  public boolean areAffected(GpuNode before, GpuNode after, Instant now) {
    return life.awaySince(before, now).isPresent()
        || life.awaySince(after, now).isPresent()
        || life.lastWord(after).isBefore(life.lastWord(before))
        || isDeleted(before) != isDeleted(after)
        || restores(before) != restores(after)
        || !reader.isSame(before, after);
  }

  /**
   * Returns the required changes: a value for each label to set, empty for each to remove. Other
   * labels are never included.
   */
  public SortedMap<String, Optional<String>> changes(
      Map<String, String> has, Map<String, String> wanted) {
    SortedMap<String, Optional<String>> changes = new TreeMap<>();
    has.keySet().stream()
        .filter(key -> key.startsWith(NodeFacts.LABEL_PREFIX) && !wanted.containsKey(key))
        .forEach(key -> changes.put(key, Optional.empty()));
    wanted.forEach(
        (key, value) -> {
          if (!value.equals(has.get(key))) {
            changes.put(key, Optional.of(value));
          }
        });
    return changes;
  }

  private static boolean isDeleted(GpuNode node) {
    return node.getMetadata().getDeletionTimestamp() != null;
  }

  /** An agent that reports no abilities is assumed to have them. */
  private static boolean restores(GpuNode node) {
    List<Capability> can = node.getStatus() == null ? null : node.getStatus().getCapabilities();
    return can == null || can.contains(Capability.RESTORE);
  }
}
