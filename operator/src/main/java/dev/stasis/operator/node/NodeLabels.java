package dev.stasis.operator.node;

import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.node.Capability;
import dev.stasis.compat.NodeFacts;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The labels that a node shall have below {@code topology.stasis.dev/}: a promise to the scheduler
 * that a target which is placed by them can be restored there.
 *
 * <p>The promise ends at once when the GpuNode is gone, when it cannot be read, or when its agent
 * cannot restore. It outlives an agent that is silent or not ready by {@link #GRACE}: the start of
 * a new version must not take the labels from every node, and a target that waits there goes on
 * when the agent is back.
 */
public final class NodeLabels {

  /** Enough to pull an image and start, and more than an agent needs to count as silent. */
  public static final Duration GRACE = Duration.ofMinutes(10);

  private final FactsReader reader = new FactsReader();
  private final AgentLife life = new AgentLife();

  /**
   * What a node shall have.
   *
   * @param labels all of ours
   * @param until when that is to be looked at again, whatever happens; empty: an event will say
   */
  public record Wanted(SortedMap<String, String> labels, Optional<Instant> until) {}

  /** Decides it. */
  public Wanted wanted(Optional<GpuNode> node, Instant now) {
    if (node.isEmpty()
        || node.get().getMetadata().getDeletionTimestamp() != null
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
   * What has to change on the node: a value for each label to set, empty for each to remove. Labels
   * of others are never among them.
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

  /** An agent that says nothing about what it can do is taken to be able to. */
  private static boolean restores(GpuNode node) {
    List<Capability> can = node.getStatus() == null ? null : node.getStatus().getCapabilities();
    return can == null || can.contains(Capability.RESTORE);
  }
}
