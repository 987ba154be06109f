package dev.stasis.operator.preemption;

import dev.stasis.operator.pod.PodState;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The inputs of a decision about a pod: pods with equal keys get equal decisions.
 *
 * @param nominated the node that is reserved for the pod
 * @param placing the rules of its spec about nodes and other pods
 */
record SchedulingKey(
    int priority,
    ResourceAmounts requests,
    Set<String> ports,
    String nominated,
    List<Object> placing) {

  /** Returns the keys of pods that are placed together. */
  static List<SchedulingKey> of(List<Pod> group) {
    return group.stream().map(SchedulingKey::of).toList();
  }

  private static SchedulingKey of(Pod pod) {
    PodSpec spec = pod.getSpec();
    String node = pod.getStatus() == null ? null : pod.getStatus().getNominatedNodeName();
    return new SchedulingKey(
        new PodState(pod).priority(),
        ResourceAmounts.of(pod),
        NodeFilter.hostPorts(pod),
        // Resources reserved for the pod are free only for it.
        node == null ? "" : node + "/" + pod.getMetadata().getUid(),
        List.of(
            Objects.requireNonNullElse(spec.getNodeSelector(), "none"),
            Objects.requireNonNullElse(spec.getTolerations(), List.of()),
            Optional.ofNullable(spec.getAffinity()),
            Objects.requireNonNullElse(spec.getTopologySpreadConstraints(), List.of())));
  }
}
