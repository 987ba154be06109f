package dev.stasis.operator.selector;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAffinity;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a node selector, as in the affinity of a pod or of a PersistentVolume: a node must
 * match one of them.
 */
public record NodeTerms(NodeSelector selector) {

  /** Returns the nodes that an affinity requires; empty if it admits all. */
  public static Optional<NodeSelector> required(@Nullable Affinity affinity) {
    return Optional.ofNullable(affinity)
        .map(Affinity::getNodeAffinity)
        .map(NodeAffinity::getRequiredDuringSchedulingIgnoredDuringExecution);
  }

  /** Returns whether the names that an affinity requires admit a node; its labels do not matter. */
  public static boolean admitsName(@Nullable Affinity affinity, String node) {
    List<NodeSelectorTerm> terms =
        required(affinity).map(NodeSelector::getNodeSelectorTerms).orElse(List.of());
    return terms.isEmpty()
        || terms.stream()
            .anyMatch(
                term ->
                    term.getMatchFields().stream()
                        .allMatch(
                            it -> it.getOperator().equals("In") == it.getValues().contains(node)));
  }

  public boolean fulfilledBy(Node node) {
    Map<String, String> labels = Marks.labels(node);
    Map<String, String> fields = Map.of("metadata.name", node.getMetadata().getName());
    return selector.getNodeSelectorTerms().stream()
        .filter(term -> !isEmpty(term)) // a term without requirements matches no node
        .anyMatch(
            term ->
                term.getMatchExpressions().stream().allMatch(one -> holds(one, labels))
                    && term.getMatchFields().stream().allMatch(one -> holds(one, fields)));
  }

  private static boolean isEmpty(NodeSelectorTerm term) {
    return term.getMatchExpressions().isEmpty() && term.getMatchFields().isEmpty();
  }

  private static boolean holds(NodeSelectorRequirement wanted, Map<String, String> found) {
    String value = found.get(wanted.getKey());
    return switch (wanted.getOperator()) {
      case "In" -> value != null && wanted.getValues().contains(value);
      case "NotIn" -> value == null || !wanted.getValues().contains(value);
      case "Exists" -> value != null;
      case "DoesNotExist" -> value == null;
      case "Gt" -> compare(value, wanted.getValues()) > 0;
      case "Lt" -> compare(value, wanted.getValues()) < 0;
      default -> false;
    };
  }

  private static int compare(@Nullable String value, List<String> wanted) {
    try {
      return value == null || wanted.isEmpty()
          ? 0
          : Long.compare(Long.parseLong(value), Long.parseLong(wanted.get(0)));
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
