package dev.stasis.operator.target;

import dev.stasis.operator.selector.NodeTerms;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;

/** The nodes that the affinity of a target admits by their names. */
public record AdmittedNodes(Pod target) {

  /** Returns whether a node is admitted; its labels do not matter. */
  public boolean include(String node) {
    List<NodeSelectorTerm> terms =
        NodeTerms.required(target.getSpec().getAffinity())
            .map(NodeSelector::getNodeSelectorTerms)
            .orElse(List.of());
    return terms.isEmpty() || terms.stream().anyMatch(term -> admits(term, node));
  }

  private static boolean admits(NodeSelectorTerm term, String node) {
    return term.getMatchFields().stream()
        .allMatch(field -> field.getOperator().equals("In") == field.getValues().contains(node));
  }
}
