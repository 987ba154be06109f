package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuNodeOperation;

/** What an order is, of those that share a type. */
@SuppressWarnings("NullAway") // what is not there fails the test
final class Kinds {

  private Kinds() {}

  /** A freeze, and no look. */
  static boolean freezes(GpuNodeOperation operation) {
    return operation.getSpec().getFreeze() != null && !operation.getSpec().getFreeze().getDryRun();
  }

  /** A look at the target's GPUs, which nobody stops. */
  static boolean onlyCompares(GpuNodeOperation operation) {
    return operation.getSpec().getRestore() != null
        && Boolean.TRUE.equals(operation.getSpec().getRestore().getDryRun());
  }
}
