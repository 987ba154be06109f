package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.operator.pod.Owners;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;

/**
 * The move of a controller's pod. From the decision for the target until the source is gone, the
 * controller creates no pod, and adopts the target in place of the source.
 */
public final class Move {

  private Move() {}

  /**
   * Returns the controller that is to adopt the target; empty if there is none, or the move is
   * over.
   */
  static Optional<OwnerReference> open(
      GpuMigration migration,
      Collection<GpuNodeOperation> operations,
      KubernetesSerialization serialization) {
    return isOver(migration)
        ? Optional.empty()
        : source(operations, serialization).flatMap(Owners::of).filter(Owners::canAdopt);
  }

  /** Returns whether there is nothing to hand over, or not yet. */
  static boolean isOver(GpuMigration migration) {
    // A value of a newer release may be a switch-over.
    return migration.getSpec().getStrategy() == MigrationStrategy.RECREATE
        || migration.getStatus() == null
        || migration.getStatus().getCommitment() == null
        || migration.getStatus().getCommitment().decision() == Decision.ROLL_BACK
        || migration.getStatus().getPhase() == null
        || migration.getStatus().getPhase().isFinal();
  }

  /** Returns the source before it was touched, from the operations. */
  public static Optional<Pod> source(
      Collection<GpuNodeOperation> operations, KubernetesSerialization serialization) {
    return operations.stream()
        .map(operation -> operation.getSpec().getFreeze())
        .filter(Objects::nonNull)
        .map(freeze -> freeze.getPodTemplate())
        .filter(Objects::nonNull)
        .findFirst()
        .map(template -> serialization.convertValue(template, Pod.class));
  }
}
