package dev.stasis.operator.pod;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Controllers of pods. */
public final class Owners {

  /** For these kinds, the pod that replaces another one can be identified. */
  private static final Set<String> HANDED_OVER = Set.of("ReplicaSet", "StatefulSet", "Job");

  /** A StatefulSet identifies pods by name, and two pods cannot have the same name. */
  private static final Set<String> ADOPTING = Set.of("ReplicaSet", "Job");

  private Owners() {}

  /** Returns the controller that creates another pod when this one is deleted. */
  public static Optional<OwnerReference> of(Pod pod) {
    return Objects.requireNonNullElse(
            pod.getMetadata().getOwnerReferences(), List.<OwnerReference>of())
        .stream()
        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
        .findFirst();
  }

  /** Returns whether the pod that it creates instead can be turned into the target. */
  public static boolean canHandOver(OwnerReference owner) {
    return HANDED_OVER.contains(owner.getKind());
  }

  /**
   * Returns whether it adopts a pod that it has not created, once that has the labels of its own
   * pods.
   */
  public static boolean canAdopt(OwnerReference owner) {
    return ADOPTING.contains(owner.getKind());
  }

  /** A Job counts a deleted pod as failed, unless it was released before. */
  public static boolean isJob(OwnerReference owner) {
    return owner.getKind().equals("Job");
  }
}
