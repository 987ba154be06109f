package dev.stasis.operator.room;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collection;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the properties of a node that affect a resize. */
public final class NodeMemory {

  private static final String MEMORY = "memory";

  /** Memory limits can be lowered since 1.34. */
  private static final int LOWERS_MINOR = 34;

  private static final Pattern VERSION = Pattern.compile("v(\\d+)\\.(\\d+)\\..*");

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
        freeBytes,
        // No API exposes the kubelet's policy; the kubelet reports on the pod that it cannot
        // resize.
        false,
        lowers(node.getStatus().getNodeInfo().getKubeletVersion()));
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

  private static boolean lowers(String kubelet) {
    Matcher version = VERSION.matcher(Objects.requireNonNullElse(kubelet, ""));
    return version.matches()
        && (Integer.parseInt(version.group(1)) > 1
            || Integer.parseInt(version.group(2)) >= LOWERS_MINOR);
  }
}
