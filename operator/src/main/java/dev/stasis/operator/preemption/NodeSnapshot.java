package dev.stasis.operator.preemption;

import io.fabric8.kubernetes.api.model.Node;
import java.util.List;

/**
 * A node and the pods that use its resources.
 *
 * @param reserved what is nominated to pods that are not bound yet
 * @param unused what the pods leave of the node
 */
record NodeSnapshot(
    Node node, List<VictimCandidate> pods, ResourceAmounts reserved, ResourceAmounts unused) {

  NodeSnapshot(Node node, List<VictimCandidate> pods) {
    this(
        node,
        pods,
        ResourceAmounts.none(),
        pods.stream()
            .map(VictimCandidate::requests)
            .reduce(ResourceAmounts.of(node.getStatus().getAllocatable()), ResourceAmounts::minus));
  }

  String name() {
    return node.getMetadata().getName();
  }

  NodeSnapshot reserving(ResourceAmounts amounts) {
    return new NodeSnapshot(node, pods, amounts, unused);
  }

  ResourceAmounts free() {
    return unused.minus(reserved);
  }
}
