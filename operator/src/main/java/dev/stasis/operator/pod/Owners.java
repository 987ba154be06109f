package dev.stasis.operator.pod;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Controllers of pods. */
public final class Owners {

  /** Of these kinds the pod that comes in the place of another one is known. */
  private static final Set<String> HANDED_OVER = Set.of("ReplicaSet", "StatefulSet", "Job");

  /** A StatefulSet goes by names, and there are no two pods of one name. */
  private static final Set<String> ADOPTING = Set.of("ReplicaSet", "Job");

  private Owners() {}

  /** The controller that makes another pod when this one goes. */
  public static Optional<OwnerReference> of(Pod pod) {
    return Objects.requireNonNullElse(
            pod.getMetadata().getOwnerReferences(), List.<OwnerReference>of())
        .stream()
        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
        .findFirst();
  }

  /** Whether the pod that it makes instead can be turned into the target. */
  public static boolean canHandOver(OwnerReference owner) {
    return HANDED_OVER.contains(owner.getKind());
  }

  /** Whether it takes a pod that it has not made, once that has the labels of its own. */
  public static boolean canAdopt(OwnerReference owner) {
    return ADOPTING.contains(owner.getKind());
  }

  /** A Job counts a pod that is deleted as failed, unless it was released before. */
  public static boolean isJob(OwnerReference owner) {
    return owner.getKind().equals("Job");
  }
}
