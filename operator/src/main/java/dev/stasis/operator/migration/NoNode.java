package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.common.NodeVerdict;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.operator.explain.NodeVerdicts;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * That no node can take the pod, and why.
 *
 * @param places what stands against each
 * @param asked what the user wants
 */
record NoNode(NodeVerdicts places, @Nullable Target asked) {

  /** Of the reasons so many are told in a sentence; the status lists all. */
  private static final int TOLD = 3;

  String sentence() {
    String node = asked == null ? null : asked.nodeName();
    if (node != null && places.all().stream().noneMatch(it -> it.node().equals(node))) {
      return "target.nodeName: wanted a node with GPUs and an agent, found none named " + node;
    }
    if (places.known() == 0) {
      return "node: wanted one with GPUs and an agent, found none";
    }
    return places.sentence()
        + ": "
        + places.all().stream()
            .filter(it -> node == null || it.node().equals(node))
            .limit(TOLD)
            .map(NoNode::against)
            .collect(Collectors.joining("; "));
  }

  private static String against(NodeVerdict verdict) {
    return verdict.node()
        + ": "
        + String.join(", ", Objects.requireNonNullElse(verdict.reasons(), List.of()));
  }
}
