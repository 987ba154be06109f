package dev.stasis.operator.room;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collection;

/** Reads the properties of a node that affect a resize. */
public final class NodeMemory {

  private static final String MEMORY = "memory";

  private NodeMemory() {}

  /**
   * Reads a node.
   *
   * @param pods all pods of the node
   * @param freeBytes measured by its agent
   */
  public static RoomFacts.Node of(Node node, Collection<Pod> pods, long freeBytes) {
    return new RoomFacts.Node(
        node.getMetadata().getName(),
        Bytes.of(node.getStatus().getAllocatable(), MEMORY).orElse(0L),
        pods.stream().filter(NodeMemory::counts).mapToLong(NodeMemory::requested).sum(),
        freeBytes);
  }

  private static boolean counts(Pod pod) {
    String phase = pod.getStatus() == null ? "" : pod.getStatus().getPhase();
    return !"Succeeded".equals(phase) && !"Failed".equals(phase);
  }

  /** As the scheduler counts: containers and sidecars together, or the largest init container. */
  private static long requested(Pod pod) {
    long together = 0;
    long largest = 0;
    for (Container init : pod.getSpec().getInitContainers()) {
      if ("Always".equals(init.getRestartPolicy())) {
        together += requested(init);
      } else {
        largest = Math.max(largest, together + requested(init));
      }
    }
    together += pod.getSpec().getContainers().stream().mapToLong(NodeMemory::requested).sum();
    return Math.max(together, largest) + Bytes.of(pod.getSpec().getOverhead(), MEMORY).orElse(0L);
  }

  private static long requested(Container container) {
    return container.getResources() == null
        ? 0
        : Bytes.of(container.getResources().getRequests(), MEMORY).orElse(0L);
  }
}
