package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.ConditionedStatus;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.restore.GpuRestoreStatus;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * All that is seen in one look at one SourceFirst migration whose source is being saved, or was.
 *
 * @param view the migration
 * @param checkpoint its own GpuCheckpoint; empty: somebody has deleted it
 * @param restore its own GpuRestore in hand; empty: none is made, or somebody has deleted it
 * @param frozen since when the source stands still, as its agent says
 * @param namespaceGoes whether nothing can be made in its namespace any more
 */
record RelayView(
    View view,
    Optional<GpuCheckpoint> checkpoint,
    Optional<GpuRestore> restore,
    Optional<Instant> frozen,
    boolean namespaceGoes) {

  /** Which GpuRestore is in hand; 0: none was made. */
  int number() {
    return RelayObjects.number(view.status().getRestore());
  }

  CheckpointPhase checkpointPhase() {
    return checkpoint
        .map(GpuCheckpoint::getStatus)
        .map(status -> status.getPhase())
        .orElse(CheckpointPhase.PENDING);
  }

  RestorePhase restorePhase() {
    return restore
        .map(GpuRestore::getStatus)
        .map(status -> status.getPhase())
        .orElse(RestorePhase.PENDING);
  }

  /** What the GpuCheckpoint says of the source. */
  Optional<Condition> source() {
    return checkpoint
        .map(GpuCheckpoint::getStatus)
        .flatMap(status -> condition(status, ConditionType.SOURCE_RUNNING));
  }

  /** What the GpuCheckpoint says of itself. */
  Optional<Condition> saving() {
    return checkpoint
        .map(GpuCheckpoint::getStatus)
        .flatMap(status -> condition(status, ConditionType.READY));
  }

  /** What the GpuRestore says of itself. */
  Optional<Condition> restoring() {
    return restore
        .map(GpuRestore::getStatus)
        .flatMap(status -> condition(status, ConditionType.SUCCEEDED));
  }

  /** Why the GpuCheckpoint came to nothing. */
  List<Fault> savingFaults() {
    List<Fault> faults =
        checkpoint
            .map(GpuCheckpoint::getStatus)
            .map(status -> status.getFaults())
            .orElse(List.of());
    return faults.isEmpty() ? List.of(fault(saving(), "GpuCheckpoint")) : faults;
  }

  /** Why the GpuRestore came to nothing. */
  List<Fault> restoringFaults() {
    List<Fault> faults =
        restore.map(GpuRestore::getStatus).map(GpuRestoreStatus::getFaults).orElse(List.of());
    return faults.isEmpty() ? List.of(fault(restoring(), "GpuRestore")) : faults;
  }

  /** Since when the GpuRestore is in its phase. */
  Instant restoringSince() {
    GpuRestore it = restore.orElseThrow();
    List<PhaseTime<RestorePhase>> phases =
        it.getStatus() == null || it.getStatus().getPhases() == null
            ? List.of()
            : it.getStatus().getPhases();
    return phases.isEmpty()
        ? Instant.parse(it.getMetadata().getCreationTimestamp())
        : phases.get(phases.size() - 1).time();
  }

  private static Optional<Condition> condition(ConditionedStatus status, ConditionType type) {
    return new Conditions(Objects.requireNonNullElse(status.getConditions(), List.of())).find(type);
  }

  private static Fault fault(Optional<Condition> said, String kind) {
    return new Fault(
        said.map(Condition::reason).orElse(Reason.OPERATION_FAILED.word()),
        null,
        null,
        null,
        null,
        null,
        said.map(Condition::message).orElse("the " + kind + " says nothing"));
  }
}
