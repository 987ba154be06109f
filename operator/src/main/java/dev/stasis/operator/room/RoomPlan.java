package dev.stasis.operator.room;

import dev.stasis.api.v1beta1.common.Fault;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How the memory for a freeze is provided. */
public sealed interface RoomPlan {

  /** The memory is sufficient. */
  record NoResizeNeeded() implements RoomPlan {}

  /**
   * The pod is resized in place, and back afterwards.
   *
   * @param container the container to resize
   * @param raised its memory during the freeze
   * @param original its memory before and after
   */
  record Resize(String container, Memory raised, Memory original) implements RoomPlan {}

  /**
   * The memory is not available and cannot be made available.
   *
   * @param faults every reason, with expected and actual value
   */
  record Refused(List<Fault> faults) implements RoomPlan {
    public Refused {
      faults = List.copyOf(faults);
    }
  }

  /**
   * Memory of a container.
   *
   * @param request empty if unset or unchanged
   */
  record Memory(Optional<Quantity> request, Quantity limit) {

    /** Returns resources with this memory; all others are as before. */
    public ResourceRequirements of(@Nullable ResourceRequirements before) {
      ResourceRequirementsBuilder resources =
          new ResourceRequirementsBuilder(
                  Objects.requireNonNullElseGet(before, ResourceRequirements::new))
              .addToLimits("memory", limit);
      request.ifPresent(it -> resources.addToRequests("memory", it));
      return resources.build();
    }
  }
}
