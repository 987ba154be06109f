package dev.stasis.operator.room;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.Objects;
import java.util.Optional;

/**
 * Memory that a target has until the driver has taken the device memory back. A target is still to
 * be scheduled, so its request rises with its limit: the scheduler then finds a node that has it.
 */
public final class TargetRoom {

  private static final String MEMORY = "memory";
  private static final long MIB = 1L << 20;

  /**
   * How much it has to be made with; empty where it has enough, or no limit.
   *
   * @param pod as it was frozen
   * @param container the workload's
   * @param neededBytes at the worst moment, all of it
   * @throws IllegalArgumentException when the pod has no such container
   */
  public Optional<RoomPlan.Memory> raised(Pod pod, String container, long neededBytes) {
    Optional<Long> limit = Bytes.of(resources(pod, container).getLimits(), MEMORY);
    if (limit.isEmpty() || limit.get() >= neededBytes) {
      return Optional.empty();
    }
    Quantity raised = Bytes.up(neededBytes);
    // Equal to the limit it could make the pod Guaranteed, and then it could not go down again.
    Quantity request =
        QosClass.of(pod) == QosClass.GUARANTEED ? raised : Bytes.up(neededBytes - MIB);
    return Optional.of(new RoomPlan.Memory(Optional.of(request), raised));
  }

  /**
   * What it is given back to once it runs; empty where it has no limit or has never been raised.
   *
   * @param pod as it was frozen
   * @param restored as it runs
   */
  public Optional<RoomPlan.Memory> original(Pod pod, Pod restored, String container) {
    ResourceRequirements was = resources(pod, container);
    Optional<Long> limit = Bytes.of(was.getLimits(), MEMORY);
    Optional<Long> now = Bytes.of(resources(restored, container).getLimits(), MEMORY);
    if (limit.isEmpty() || now.isEmpty() || now.get() <= limit.get()) {
      return Optional.empty();
    }
    Quantity before = Objects.requireNonNull(was.getLimits().get(MEMORY), "it has a limit");
    // A container that asks for none is given its limit as request by the API server.
    Optional<Quantity> request =
        Optional.ofNullable(was.getRequests()).map(requests -> requests.get(MEMORY));
    return Optional.of(new RoomPlan.Memory(Optional.of(request.orElse(before)), before));
  }

  /** The limit in bytes; empty where there is none. */
  public Optional<Long> limit(Pod pod, String container) {
    return Bytes.of(resources(pod, container).getLimits(), MEMORY);
  }

  private static ResourceRequirements resources(Pod pod, String container) {
    Container found =
        pod.getSpec().getContainers().stream()
            .filter(candidate -> candidate.getName().equals(container))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no container named " + container));
    return Objects.requireNonNullElseGet(found.getResources(), ResourceRequirements::new);
  }
}
