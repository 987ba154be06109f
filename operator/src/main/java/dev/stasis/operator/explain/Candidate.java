package dev.stasis.operator.explain;

import dev.stasis.compat.NodeFacts;
import java.util.List;

/**
 * A node with GPUs.
 *
 * @param facts its offer
 * @param against other reasons against it, one sentence each: cordoned, no agent, a fenced GPU
 */
public record Candidate(String name, NodeFacts facts, List<String> against) {
  public Candidate {
    against = List.copyOf(against);
  }
}
