package dev.stasis.operator.preemption;

import java.util.List;
import java.util.SortedMap;
import java.util.stream.Collectors;

/** The action for a waiting pod, or for a gang of them. */
sealed interface PreemptionDecision {

  /**
   * Number of nodes listed in the message: formatting the reason of every node took most of a
   * decision's time.
   */
  int NODES = 3;

  /** Returns how many pods are victims. */
  int victims();

  /** Returns the decision as a sentence. */
  String sentence();

  /**
   * All pods get a node.
   *
   * @param assignments one for each pod, in their order
   */
  record Preempt(List<NodeAssignment> assignments) implements PreemptionDecision {

    @Override
    public int victims() {
      return assignments.stream().mapToInt(it -> it.victims().size()).sum();
    }

    @Override
    public String sentence() {
      String first = assignments.get(0).why();
      return victims() > 0
          ? first
          : "no preemption needed: " + first + "; waiting for the scheduler";
    }
  }

  /**
   * No pod is preempted: they would still not fit.
   *
   * @param missing the reason for the first nodes by name
   * @param nodes number of all nodes
   */
  record Unplaceable(SortedMap<String, String> missing, int nodes) implements PreemptionDecision {

    @Override
    public int victims() {
      return 0;
    }

    @Override
    public String sentence() {
      if (missing.isEmpty()) {
        return "no preemption: no node has GPUs";
      }
      String reasons =
          missing.entrySet().stream()
              .map(it -> it.getKey() + ": " + it.getValue())
              .collect(Collectors.joining("; "));
      return "no preemption, because the pod would still not fit: "
          + reasons
          + (nodes > missing.size() ? "; and %d more nodes".formatted(nodes - missing.size()) : "");
    }
  }
}
