package dev.stasis.operator.target;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.NodeAffinity;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;

/** The nodes that the affinity of a target admits by their names. */
public record AdmittedNodes(Pod target) {

  /** Returns whether a node is admitted; its labels do not matter. */
  public boolean include(String node) {
    List<NodeSelectorTerm> terms =
        Optional.ofNullable(target.getSpec().getAffinity())
            .map(Affinity::getNodeAffinity)
            .map(NodeAffinity::getRequiredDuringSchedulingIgnoredDuringExecution)
            .map(NodeSelector::getNodeSelectorTerms)
            .orElse(List.of());
    return terms.isEmpty() || terms.stream().anyMatch(term -> admits(term, node));
  }

  private static boolean admits(NodeSelectorTerm term, String node) {
    return term.getMatchFields().stream()
        .allMatch(field -> field.getOperator().equals("In") == field.getValues().contains(node));
  }
}
