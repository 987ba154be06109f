package dev.stasis.operator.room;

import dev.stasis.api.v1alpha1.common.Fault;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Optional;

/** What is done about room, before anything is frozen. */
public sealed interface RoomPlan {

  /** There is enough. */
  record NoResizeNeeded() implements RoomPlan {}

  /**
   * The pod is resized in place, and back afterwards.
   *
   * @param container which container
   * @param raised its memory while it is frozen
   * @param original its memory before and after
   * @param returns whether the cluster can lower a limit again; if not, it stays raised and the
   *     status says so
   */
  record Resize(String container, Memory raised, Memory original, boolean returns)
      implements RoomPlan {}

  /**
   * There is none, and none can be made.
   *
   * @param faults every reason, with both values
   */
  record Refused(List<Fault> faults) implements RoomPlan {
    public Refused {
      faults = List.copyOf(faults);
    }
  }

  /**
   * Memory of a container.
   *
   * @param request empty: as it is, or none
   * @param limit its limit
   */
  record Memory(Optional<Quantity> request, Quantity limit) {}
}
