package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The observed objects of a migration with strategy Recreate.
 *
 * @param checkpoint its GpuCheckpoint; empty if not created yet, or deleted since
 * @param restore its current GpuRestore; empty if not created yet, or deleted since
 * @param frozen since when the source is frozen, as its agent reports
 * @param namespaceGoes whether the namespace is being deleted, so that nothing can be created in it
 */
record SourceFirstState(
    Optional<GpuCheckpoint> checkpoint,
    Optional<GpuRestore> restore,
    Optional<Instant> frozen,
    boolean namespaceGoes) {

  /** The state of a migration without such objects. */
  static final SourceFirstState NONE =
      new SourceFirstState(Optional.empty(), Optional.empty(), Optional.empty(), false);

  CheckpointPhase checkpointPhase() {
    return checkpoint.map(CurrentPhase::of).orElse(CheckpointPhase.PENDING);
  }

  RestorePhase restorePhase() {
    return restore.map(CurrentPhase::of).orElse(RestorePhase.PENDING);
  }

  /** The GpuCheckpoint's report on the source. */
  Optional<Condition> source() {
    return checkpoint
        .map(GpuCheckpoint::getStatus)
        .flatMap(status -> Conditions.of(status).find(ConditionType.SOURCE_RUNNING));
  }

  /** The GpuCheckpoint's own state. */
  Optional<Condition> saving() {
    return checkpoint
        .map(GpuCheckpoint::getStatus)
        .flatMap(status -> Conditions.of(status).find(ConditionType.READY));
  }

  /** The GpuRestore's own state. */
  Optional<Condition> restoring() {
    return restore
        .map(GpuRestore::getStatus)
        .flatMap(status -> Conditions.of(status).find(ConditionType.SUCCEEDED));
  }

  /** Why the GpuCheckpoint failed. */
  List<Fault> savingFaults() {
    List<Fault> faults =
        checkpoint
            .map(GpuCheckpoint::getStatus)
            .map(status -> status.getFaults())
            .orElse(List.of());
    return faults.isEmpty() ? List.of(fault(saving(), "GpuCheckpoint")) : faults;
  }

  /** Why the GpuRestore failed. */
  List<Fault> restoringFaults() {
    List<Fault> faults =
        restore.map(GpuRestore::getStatus).map(GpuRestoreStatus::getFaults).orElse(List.of());
    return faults.isEmpty() ? List.of(fault(restoring(), "GpuRestore")) : faults;
  }

  /** Since when the GpuRestore is in its phase. */
  Instant restoringSince() {
    GpuRestore it = restore.orElseThrow();
    return PhaseLog.of(it.getStatus())
        .since()
        .orElseGet(() -> Instant.parse(it.getMetadata().getCreationTimestamp()));
  }

  /** Returns that an object is waited for, with its own message. */
  static Progress follow(Optional<Condition> said, String object) {
    return new Progress.Waiting(
        said.flatMap(it -> Reason.find(it.reason()))
            .orElse(said.isPresent() ? Reason.OPERATION_FAILED : Reason.WAITING),
        object + said.map(it -> ": " + it.message()).orElse(": not processed yet"));
  }

  /** Returns whether an object is being undone. */
  static boolean isCancelled(HasMetadata object, @Nullable Boolean cancel) {
    return Boolean.TRUE.equals(cancel) || object.getMetadata().getDeletionTimestamp() != null;
  }

  private static Fault fault(Optional<Condition> said, String kind) {
    return Fault.of(
        said.map(Condition::reason).orElse(Reason.OPERATION_FAILED.value()),
        null,
        said.map(Condition::message).orElse("the " + kind + " reports no reason"));
  }
}
