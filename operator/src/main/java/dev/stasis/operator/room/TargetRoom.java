package dev.stasis.operator.room;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.Optional;

/**
 * The memory that a target needs until the driver has restored the device memory. A target is not
 * scheduled yet, so its request is raised with its limit, and the scheduler finds a node that has
 * it.
 */
public final class TargetRoom {

  private static final String MEMORY = "memory";
  private static final long MIB = 1L << 20;

  /**
   * Returns the memory of the new pod; empty if it has enough, or no limit.
   *
   * @param pod the pod when it was frozen
   * @param container the workload's
   * @param neededBytes total peak
   * @throws IllegalArgumentException if the pod has no such container
   */
  public Optional<RoomPlan.Memory> raised(Pod pod, String container, long neededBytes) {
    Optional<Long> limit = Bytes.of(resources(pod, container).getLimits(), MEMORY);
    if (limit.isEmpty() || limit.get() >= neededBytes) {
      return Optional.empty();
    }
    Quantity raised = Bytes.up(neededBytes);
    // If it were equal to the limit, the pod could become Guaranteed, and the limit could not be
    // lowered again.
    Quantity request =
        QosClass.of(pod) == QosClass.GUARANTEED ? raised : Bytes.up(neededBytes - MIB);
    return Optional.of(new RoomPlan.Memory(Optional.of(request), raised));
  }

  /**
   * Returns the memory to restore once it runs; empty if it has no limit or was never raised.
   *
   * @param pod the pod when it was frozen
   */
  public Optional<RoomPlan.Memory> original(Pod pod, Pod restored, String container) {
    ResourceRequirements was = resources(pod, container);
    Optional<Long> limit = Bytes.of(was.getLimits(), MEMORY);
    Optional<Long> now = Bytes.of(resources(restored, container).getLimits(), MEMORY);
    if (limit.isEmpty() || now.isEmpty() || now.get() <= limit.get()) {
      return Optional.empty();
    }
    // The API server sets the request of a container without one to its limit.
    return Optional.of(RoomPlanner.original(was, true));
  }

  /** The limit in bytes; empty if there is none. */
  public Optional<Long> limit(Pod pod, String container) {
    return Bytes.of(resources(pod, container).getLimits(), MEMORY);
  }

  private static ResourceRequirements resources(Pod pod, String container) {
    return RoomPlanner.resources(RoomPlanner.container(pod, container));
  }
}
