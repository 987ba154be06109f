package dev.stasis.operator.target;

import dev.stasis.compat.NodeFacts;
import dev.stasis.compat.Placement;
import dev.stasis.operator.selector.NodeTerms;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.AffinityBuilder;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.NodeSelectorTermBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The nodes for the target: compatible ones, within the source's own node affinity.
 *
 * <p>Terms of a node affinity are alternatives, so all of our requirements are added to each term
 * of the user. Its field selectors are all ours, because of the pods with a controller only those
 * of a DaemonSet have them.
 *
 * @param placement labels of compatible nodes
 * @param only names of the only possible nodes; null for all
 * @param never names of excluded nodes
 */
record NodeChoice(Placement placement, @Nullable SortedSet<String> only, Set<String> never) {

  private static final String NODE_NAME = "metadata.name";

  Affinity within(@Nullable Affinity users) {
    AffinityBuilder affinity = users == null ? new AffinityBuilder() : new AffinityBuilder(users);
    List<NodeSelectorTerm> terms = new ArrayList<>();
    for (NodeSelectorTerm term : usersTerms(users)) {
      terms.addAll(narrowed(term));
    }
    return affinity
        .editOrNewNodeAffinity()
        // The preferences of an earlier restore no longer apply.
        .removeMatchingFromPreferredDuringSchedulingIgnoredDuringExecution(
            it -> !it.buildPreference().getMatchFields().isEmpty())
        .withNewRequiredDuringSchedulingIgnoredDuringExecution()
        .withNodeSelectorTerms(terms.stream().distinct().toList())
        .endRequiredDuringSchedulingIgnoredDuringExecution()
        .endNodeAffinity()
        .build();
  }

  /** The user's terms without those of an earlier restore; a term without requirements. */
  private static List<NodeSelectorTerm> usersTerms(@Nullable Affinity users) {
    return NodeTerms.required(users)
        .map(NodeSelector::getNodeSelectorTerms)
        .orElse(List.of(new NodeSelectorTerm()))
        .stream()
        .map(
            term ->
                new NodeSelectorTermBuilder()
                    .withMatchExpressions(
                        term.getMatchExpressions().stream()
                            .filter(it -> !it.getKey().startsWith(NodeFacts.LABEL_PREFIX))
                            .toList())
                    .build())
        .distinct()
        .toList();
  }

  private List<NodeSelectorTerm> narrowed(NodeSelectorTerm term) {
    List<NodeSelectorRequirement> labels = new ArrayList<>(term.getMatchExpressions());
    placement
        .accepted()
        .forEach(
            (key, values) ->
                labels.add(new NodeSelectorRequirement(key, "In", List.copyOf(values))));
    List<NodeSelectorRequirement> others =
        new TreeSet<>(never)
            .stream()
                .map(node -> new NodeSelectorRequirement(NODE_NAME, "NotIn", List.of(node)))
                .toList();
    if (only == null) {
      return List.of(
          new NodeSelectorTermBuilder()
              .withMatchExpressions(labels)
              .withMatchFields(others)
              .build());
    }
    // A field selector has one value, so several nodes need several terms.
    return only.stream()
        .filter(node -> !never.contains(node))
        .map(node -> new NodeSelectorRequirement(NODE_NAME, "In", List.of(node)))
        .map(
            node ->
                new NodeSelectorTermBuilder()
                    .withMatchExpressions(labels)
                    .withMatchFields(node)
                    .build())
        .toList();
  }
}
