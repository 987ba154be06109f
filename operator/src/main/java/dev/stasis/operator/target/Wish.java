package dev.stasis.operator.target;

import dev.stasis.api.v1alpha1.common.Target;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * What is asked of the target.
 *
 * @param requester namespace and name of the object for which it is made: {@code ml/train-1-back}
 * @param requesterUid uid of that object
 * @param attempt which target of that object it is, from 1
 * @param target where it shall be, and what it shall be called
 * @param way how it comes to be
 * @param takenNames names of pods in the namespace
 * @param excludedNodes nodes on which an earlier target got GPUs that do not fit
 * @param deadline the operator's own deadline for it
 * @param room memory that it has until the driver has taken the device memory back
 */
public record Wish(
    String requester,
    String requesterUid,
    int attempt,
    Target target,
    Way way,
    Set<String> takenNames,
    SortedSet<String> excludedNodes,
    Duration deadline,
    Optional<Memory> room) {
  public Wish {
    takenNames = Set.copyOf(takenNames);
    excludedNodes = java.util.Collections.unmodifiableSortedSet(new TreeSet<>(excludedNodes));
  }

  /**
   * Memory of the workload's container.
   *
   * @param request empty: as the source had it
   * @param limit empty: as the source had it
   */
  public record Memory(Optional<Quantity> request, Optional<Quantity> limit) {}
}
