package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import java.util.List;
import java.util.Objects;

/** Faults that end a migration or one of its targets. */
final class MigrationFaults {

  private MigrationFaults() {}

  static Fault cancelled() {
    return Fault.of(Reason.CANCELLED.value(), null, "it was cancelled");
  }

  /** The target is gone. */
  static Fault targetLost(String target) {
    return Reason.TARGET_LOST.misfit(
        "pod " + target, "a pod that exists until the verification", "none");
  }

  /** Why an operation failed, even if it reported no reason. */
  static List<Fault> of(OperationView failed) {
    if (!failed.faults().isEmpty()) {
      return failed.faults();
    }
    String message = Objects.requireNonNullElse(failed.status().getMessage(), "");
    return List.of(
        Reason.OPERATION_FAILED.misfit(
            "operation " + failed.name(),
            "success",
            (failed.phase().value() + " " + failed.reason() + " " + message).strip()));
  }
}
