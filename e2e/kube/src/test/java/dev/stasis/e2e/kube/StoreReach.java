package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.NodeStore;
import java.util.List;

/** Which nodes can use a store. */
record StoreReach(Scenario scenario) {

  /** Waits until all nodes say that they can. */
  void untilReached(String store) {
    scenario.until("a store that every node reaches", () -> isReached(store));
  }

  private boolean isReached(String store) {
    return scenario.installation().nodes().stream()
        .map(node -> scenario.admin().resources(GpuNode.class).withName(node).get())
        .allMatch(
            node ->
                stores(node).stream()
                    .anyMatch(
                        seen -> seen.name().equals(store) && Boolean.TRUE.equals(seen.writable())));
  }

  private static List<NodeStore> stores(GpuNode node) {
    return node == null || node.getStatus() == null || node.getStatus().getStores() == null
        ? List.of()
        : node.getStatus().getStores();
  }
}
