package dev.stasis.local.scheduler;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Checks whether a pod fits on a node beside the pods that run there. */
record NodeMatch(Node node, List<Pod> there) {

  /** Returns every reason against it, in a scheduler's terms; empty if it fits. */
  List<String> against(Pod pod) {
    List<String> reasons = new ArrayList<>();
    Map<String, String> labels =
        Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.of());
    Map<String, String> selector =
        Objects.requireNonNullElse(pod.getSpec().getNodeSelector(), Map.of());
    selector.forEach(
        (name, value) -> {
          if (!value.equals(labels.get(name))) {
            reasons.add("node selector %s=%s".formatted(name, value));
          }
        });
    required(pod)
        .filter(terms -> terms.getNodeSelectorTerms().stream().noneMatch(it -> fits(it, labels)))
        .ifPresent(terms -> reasons.add("node affinity of the pod"));
    Map<String, BigDecimal> wanted = requests(pod);
    for (Map.Entry<String, BigDecimal> request : wanted.entrySet()) {
      BigDecimal free = free(request.getKey());
      if (free.compareTo(request.getValue()) < 0) {
        reasons.add("Insufficient " + request.getKey());
      }
    }
    return reasons;
  }

  private BigDecimal free(String resource) {
    Quantity allocatable = node.getStatus().getAllocatable().get(resource);
    BigDecimal free = allocatable == null ? BigDecimal.ZERO : allocatable.getNumericalAmount();
    for (Pod other : there) {
      free = free.subtract(requests(other).getOrDefault(resource, BigDecimal.ZERO));
    }
    return free;
  }

  /** The sum of the containers, or the largest init container. */
  private static Map<String, BigDecimal> requests(Pod pod) {
    Map<String, BigDecimal> sum = new TreeMap<>();
    for (Container container : pod.getSpec().getContainers()) {
      requests(container).forEach((name, amount) -> sum.merge(name, amount, BigDecimal::add));
    }
    for (Container container : pod.getSpec().getInitContainers()) {
      requests(container).forEach((name, amount) -> sum.merge(name, amount, BigDecimal::max));
    }
    return sum;
  }

  private static Map<String, BigDecimal> requests(Container container) {
    Map<String, BigDecimal> amounts = new TreeMap<>();
    if (container.getResources() != null && container.getResources().getRequests() != null) {
      container
          .getResources()
          .getRequests()
          .forEach((name, quantity) -> amounts.put(name, quantity.getNumericalAmount()));
    }
    return amounts;
  }

  private static Optional<NodeSelector> required(Pod pod) {
    return Optional.ofNullable(pod.getSpec().getAffinity())
        .map(Affinity::getNodeAffinity)
        .map(it -> it.getRequiredDuringSchedulingIgnoredDuringExecution());
  }

  private boolean fits(NodeSelectorTerm term, Map<String, String> labels) {
    Map<String, String> fields = Map.of("metadata.name", node.getMetadata().getName());
    return term.getMatchExpressions().stream().allMatch(it -> fits(it, labels.get(it.getKey())))
        && term.getMatchFields().stream().allMatch(it -> fits(it, fields.get(it.getKey())));
  }

  private static boolean fits(NodeSelectorRequirement requirement, @Nullable String value) {
    List<String> values = requirement.getValues();
    return switch (requirement.getOperator()) {
      case "In" -> value != null && values.contains(value);
      case "NotIn" -> value == null || !values.contains(value);
      case "Exists" -> value != null;
      case "DoesNotExist" -> value == null;
      case "Gt" -> value != null && Long.parseLong(value) > Long.parseLong(values.get(0));
      case "Lt" -> value != null && Long.parseLong(value) < Long.parseLong(values.get(0));
      default -> false;
    };
  }
}
