package dev.stasis.operator.owner;

import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.migration.Decision;
import dev.stasis.api.v1alpha1.migration.MigrationOrder;
import dev.stasis.operator.pod.Owners;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;

/**
 * A pod of a controller has moved: from the decision that the target is the one until the source is
 * gone, the controller makes no pod, and takes the target in the place of the source.
 */
public final class Move {

  private Move() {}

  /** The controller that is to take the target; empty: there is none, or it is over. */
  static Optional<OwnerReference> open(
      GpuMigration migration,
      Collection<GpuNodeOperation> operations,
      KubernetesSerialization serialization) {
    return isOver(migration)
        ? Optional.empty()
        : source(operations, serialization).flatMap(Owners::of).filter(Owners::canAdopt);
  }

  /** Whether it has nothing to hand over, or not yet. */
  static boolean isOver(GpuMigration migration) {
    return migration.getSpec().getOrder() != MigrationOrder.TARGET_FIRST
        || migration.getStatus() == null
        || migration.getStatus().getCommitment() == null
        || migration.getStatus().getCommitment().decision() != Decision.SWITCH_OVER
        || migration.getStatus().getPhase() == null
        || migration.getStatus().getPhase().isFinal();
  }

  /** The source as it was before it was touched: the orders have it. */
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
