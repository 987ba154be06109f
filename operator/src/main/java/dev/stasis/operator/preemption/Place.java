package dev.stasis.operator.preemption;

import io.fabric8.kubernetes.api.model.Node;
import java.util.List;

/**
 * A node and the pods that count on it: bound there, and not ended.
 *
 * @param promised what is nominated to it and not bound yet, of a priority not below the
 *     preemptor's
 */
public record Place(Node node, List<Candidate> pods, Amounts promised) {
  public Place {
    pods = List.copyOf(pods);
  }

  /** A node to which nothing is promised. */
  public Place(Node node, List<Candidate> pods) {
    this(node, pods, Amounts.none());
  }

  String name() {
    return node.getMetadata().getName();
  }

  Amounts free() {
    Amounts free = Amounts.of(node.getStatus().getAllocatable()).minus(promised);
    for (Candidate pod : pods) {
      free = free.minus(Amounts.of(pod.pod()));
    }
    return free;
  }
}
