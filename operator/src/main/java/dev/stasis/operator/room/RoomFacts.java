package dev.stasis.operator.room;

import dev.stasis.api.v1alpha1.common.MemoryRoom;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import java.util.List;

/**
 * What has to be known before a freeze.
 *
 * @param pod as it runs, with its status
 * @param container the one that is frozen
 * @param need what it will need
 * @param policy whether the pod may be resized
 * @param node its node
 * @param quotas of its namespace, with their use
 * @param ranges of its namespace
 */
public record RoomFacts(
    Pod pod,
    String container,
    Need need,
    MemoryRoom policy,
    Node node,
    List<ResourceQuota> quotas,
    List<LimitRange> ranges) {
  public RoomFacts {
    quotas = List.copyOf(quotas);
    ranges = List.copyOf(ranges);
  }

  /**
   * Memory of the container, in bytes.
   *
   * @param usedBytes now
   * @param neededBytes at the worst moment of the freeze, all of it
   */
  public record Need(long usedBytes, long neededBytes) {}

  /**
   * The node.
   *
   * @param name its name
   * @param allocatableBytes memory that pods can ask for
   * @param requestedBytes memory that its pods ask for, this one's included
   * @param freeBytes memory that is free above the eviction threshold
   * @param staticMemoryManager whether the kubelet's memory manager policy is Static
   * @param lowersLimits whether it can lower a memory limit (Kubernetes 1.34)
   */
  public record Node(
      String name,
      long allocatableBytes,
      long requestedBytes,
      long freeBytes,
      boolean staticMemoryManager,
      boolean lowersLimits) {}
}
