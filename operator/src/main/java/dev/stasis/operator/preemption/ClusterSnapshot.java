package dev.stasis.operator.preemption;

import dev.stasis.operator.pod.PodState;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The nodes with GPUs as the scheduler will see them once all pods that are being removed are gone.
 *
 * @param nodes with the pods that remain
 * @param nominated pending pods, by the name of the node reserved for them
 */
record ClusterSnapshot(List<NodeSnapshot> nodes, Map<String, List<Pod>> nominated) {

  /** Returns the nodes without what is reserved for other pods of the same or a higher priority. */
  List<NodeSnapshot> nodesFor(List<Pod> preemptors) {
    int least = preemptors.stream().mapToInt(pod -> new PodState(pod).priority()).min().orElse(0);
    Set<String> own =
        preemptors.stream().map(it -> it.getMetadata().getUid()).collect(Collectors.toSet());
    return nodes.stream().map(node -> node.reserving(reserved(node, least, own))).toList();
  }

  private ResourceAmounts reserved(NodeSnapshot node, int least, Set<String> own) {
    return nominated.getOrDefault(node.name(), List.of()).stream()
        .filter(pod -> !own.contains(pod.getMetadata().getUid()))
        .filter(pod -> new PodState(pod).priority() >= least)
        .map(ResourceAmounts::of)
        .reduce(ResourceAmounts.none(), ResourceAmounts::plus);
  }
}
