package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.compat.NodeFacts;
import dev.stasis.operator.selector.NodeTerms;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.AffinityBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.NodeSelectorTermBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Creates the pod of a cold start, if the workload could not be restored and its user allows that:
 * the frozen pod as its user wrote it, without any changes of a restore. It is not marked as a
 * restored pod.
 */
public final class ColdStartMaker {

  private final Set<String> injected;

  /**
   * @param injected names of containers that an admission webhook adds to every pod again
   */
  public ColdStartMaker(Set<String> injected) {
    this.injected = Set.copyOf(injected);
  }

  /** Creates the pod; {@code wish} has name, labels and nodes, as for the target. */
  public Pod make(FrozenPod source, Wish wish) {
    Pod pod = Stripped.ofOldToStart(source.pod(), source.container(), injected).pod();
    pod.setMetadata(metadata(source, wish));
    PodSpec spec = pod.getSpec();
    spec.setContainers(
        spec.getContainers().stream()
            .map(it -> it.getName().equals(source.container()) ? unheld(it) : it)
            .toList());
    spec.setAffinity(withoutOurs(spec.getAffinity()));
    Map<String, String> selector =
        new HashMap<>(Objects.requireNonNullElse(spec.getNodeSelector(), Map.of()));
    selector.putAll(Objects.requireNonNullElse(wish.target().nodeSelector(), Map.of()));
    spec.setNodeSelector(selector);
    return pod;
  }

  private static ObjectMeta metadata(FrozenPod source, Wish wish) {
    ObjectMeta metadata = new Metadata(source, wish).make();
    metadata.getLabels().remove(Api.CHECKPOINT_LABEL);
    metadata.getAnnotations().remove(Api.RESTORED_FROM_ANNOTATION);
    metadata.getAnnotations().remove(Api.FORMER_PODS_ANNOTATION);
    metadata.getAnnotations().remove(Api.WORKLOAD_START_ANNOTATION);
    return metadata;
  }

  /**
   * If the source was a target itself, its command contains the workload's command after the
   * holder's.
   */
  private static Container unheld(Container container) {
    List<String> command = Objects.requireNonNullElse(container.getCommand(), List.of());
    List<String> own = Holder.own(command);
    if (own.equals(command)) {
      return container;
    }
    ContainerBuilder unheld = new ContainerBuilder(container).withCommand(own);
    if (Holder.isOurs(container.getStartupProbe())) {
      unheld.withStartupProbe(null);
    }
    return unheld.build();
  }

  /** A cold start does not need a compatible node, only the nodes of the user's selection. */
  private static @Nullable Affinity withoutOurs(@Nullable Affinity affinity) {
    List<NodeSelectorTerm> terms =
        NodeTerms.required(affinity).map(NodeSelector::getNodeSelectorTerms).orElse(List.of());
    boolean restored = terms.stream().anyMatch(term -> !users(term).equals(term));
    if (affinity == null || !restored) {
      return affinity;
    }
    List<NodeSelectorTerm> users =
        terms.stream()
            .map(ColdStartMaker::users)
            .filter(term -> !term.getMatchExpressions().isEmpty())
            .distinct()
            .toList();
    AffinityBuilder builder = new AffinityBuilder(affinity);
    if (users.isEmpty()) {
      builder
          .editNodeAffinity()
          .withRequiredDuringSchedulingIgnoredDuringExecution(null)
          .endNodeAffinity();
    } else {
      builder
          .editNodeAffinity()
          .editRequiredDuringSchedulingIgnoredDuringExecution()
          .withNodeSelectorTerms(users)
          .endRequiredDuringSchedulingIgnoredDuringExecution()
          .endNodeAffinity();
    }
    return builder.build();
  }

  private static NodeSelectorTerm users(NodeSelectorTerm term) {
    boolean ours =
        term.getMatchExpressions().stream()
            .anyMatch(expression -> expression.getKey().startsWith(NodeFacts.LABEL_PREFIX));
    return ours
        ? new NodeSelectorTermBuilder()
            .withMatchExpressions(
                term.getMatchExpressions().stream()
                    .filter(it -> !it.getKey().startsWith(NodeFacts.LABEL_PREFIX))
                    .toList())
            .build()
        : term;
  }
}
