package dev.stasis.operator.room;

import dev.stasis.api.v1beta1.common.MemoryLimitPolicy;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import java.util.List;

/**
 * The facts that are checked before a freeze.
 *
 * @param pod the running pod, with its status
 * @param container the container to freeze
 * @param need the memory that it will need
 * @param policy whether the pod may be resized
 * @param node its node
 * @param quotas ResourceQuotas of its namespace, with their usage
 * @param ranges LimitRanges of its namespace
 */
public record RoomFacts(
    Pod pod,
    String container,
    Need need,
    MemoryLimitPolicy policy,
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
   * @param usedBytes current usage
   * @param neededBytes total peak during the freeze
   */
  public record Need(long usedBytes, long neededBytes) {}

  /**
   * The node.
   *
   * @param allocatableBytes memory that pods can request
   * @param requestedBytes memory that its pods request, including this one
   * @param freeBytes free memory above the eviction threshold
   */
  public record Node(String name, long allocatableBytes, long requestedBytes, long freeBytes) {}
}
