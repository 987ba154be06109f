package dev.stasis.operator.explain;

import dev.stasis.compat.NodeFacts;
import java.util.List;

/**
 * A node with GPUs.
 *
 * @param name its name
 * @param facts what it offers
 * @param against what else stands against it now, each a sentence: cordoned, no agent, a GPU that
 *     is quarantined
 */
public record Candidate(String name, NodeFacts facts, List<String> against) {
  public Candidate {
    against = List.copyOf(against);
  }
}
