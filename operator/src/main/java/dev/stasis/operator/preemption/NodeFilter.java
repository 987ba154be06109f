package dev.stasis.operator.preemption;

import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.selector.NodeTerms;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Whether a pod may run on a node at all, regardless of what is preempted there. Applies the
 * scheduler's rules, except affinity to other pods and topology spread: pods with such rules are
 * not supported.
 */
final class NodeFilter {

  private static final Set<String> KEEPS_AWAY = Set.of("NoSchedule", "NoExecute");

  /** Returns why the pod cannot run on the node; empty if it can. */
  Optional<String> refusal(Pod pod, Node node) {
    PodSpec spec = pod.getSpec();
    Map<String, String> labels = Marks.labels(node);
    if (Boolean.TRUE.equals(node.getSpec().getUnschedulable())
        && tolerates(spec, new Taint("NoSchedule", "node.kubernetes.io/unschedulable", null, ""))
            .isEmpty()) {
      return Optional.of("the node is cordoned");
    }
    for (Taint taint : Objects.requireNonNullElse(node.getSpec().getTaints(), List.<Taint>of())) {
      if (KEEPS_AWAY.contains(taint.getEffect()) && tolerates(spec, taint).isEmpty()) {
        return Optional.of("taint %s: expected a toleration, got none".formatted(taint.getKey()));
      }
    }
    for (var required :
        Objects.requireNonNullElse(spec.getNodeSelector(), Map.<String, String>of()).entrySet()) {
      String actual = labels.get(required.getKey());
      if (!required.getValue().equals(actual)) {
        return Optional.of(
            "label %s: expected %s, got %s"
                .formatted(required.getKey(), required.getValue(), actual));
      }
    }
    return affinity(spec.getAffinity(), node);
  }

  /** Returns the pod's unsupported rule about other pods; empty if it has none. */
  static Optional<String> unsupported(Pod pod) {
    PodSpec spec = pod.getSpec();
    Affinity affinity = spec.getAffinity();
    boolean others =
        affinity != null
            && (affinity.getPodAffinity() != null
                    && !affinity
                        .getPodAffinity()
                        .getRequiredDuringSchedulingIgnoredDuringExecution()
                        .isEmpty()
                || affinity.getPodAntiAffinity() != null
                    && !affinity
                        .getPodAntiAffinity()
                        .getRequiredDuringSchedulingIgnoredDuringExecution()
                        .isEmpty());
    if (others) {
      return Optional.of(
          "required affinity between pods is not supported: no pod is preempted for it");
    }
    boolean spread =
        Objects.requireNonNullElse(
                spec.getTopologySpreadConstraints(),
                List.<io.fabric8.kubernetes.api.model.TopologySpreadConstraint>of())
            .stream()
            .anyMatch(constraint -> "DoNotSchedule".equals(constraint.getWhenUnsatisfiable()));
    return spread
        ? Optional.of("required topology spread is not supported: no pod is preempted for it")
        : Optional.empty();
  }

  /** Returns the host ports of a pod, with their protocol. */
  static Set<String> hostPorts(Pod pod) {
    Set<String> ports = new TreeSet<>();
    pod.getSpec()
        .getContainers()
        .forEach(
            container -> {
              for (ContainerPort port : container.getPorts()) {
                if (port.getHostPort() != null && port.getHostPort() > 0) {
                  ports.add(
                      Objects.requireNonNullElse(port.getProtocol(), "TCP")
                          + " "
                          + port.getHostPort());
                }
              }
            });
    return ports;
  }

  private static Optional<Toleration> tolerates(PodSpec spec, Taint taint) {
    return Objects.requireNonNullElse(spec.getTolerations(), List.<Toleration>of()).stream()
        .filter(
            toleration ->
                (toleration.getEffect() == null
                        || toleration.getEffect().isEmpty()
                        || toleration.getEffect().equals(taint.getEffect()))
                    && ("Exists".equals(toleration.getOperator())
                        ? toleration.getKey() == null
                            || toleration.getKey().isEmpty()
                            || toleration.getKey().equals(taint.getKey())
                        : Objects.equals(toleration.getKey(), taint.getKey())
                            && Objects.equals(
                                Objects.requireNonNullElse(toleration.getValue(), ""),
                                Objects.requireNonNullElse(taint.getValue(), ""))))
        .findFirst();
  }

  private static Optional<String> affinity(@Nullable Affinity affinity, Node node) {
    return NodeTerms.required(affinity)
        .filter(required -> !new NodeTerms(required).fulfilledBy(node))
        .map(required -> "node affinity: no term of it matches");
  }
}
