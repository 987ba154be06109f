package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.operator.room.RoomPlan;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The request for a target.
 *
 * @param requester namespace and name of the object for which it is created: {@code
 *     ml/train-1-back}
 * @param requesterUid uid of that object
 * @param attempt number of the target of that object, from 1
 * @param target placement and name
 * @param way how it is created
 * @param takenNames names of pods in the namespace
 * @param excludedNodes nodes on which an earlier target got GPUs that do not fit
 * @param deadline the operator's own deadline for it
 * @param room memory that it has until the driver has restored the device memory
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
    Optional<RoomPlan.Memory> room) {
  public Wish {
    takenNames = Set.copyOf(takenNames);
    excludedNodes = java.util.Collections.unmodifiableSortedSet(new TreeSet<>(excludedNodes));
  }
}
