package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.migration.Commitment;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.RolledBack;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Writes the reports of its checkpoint and its restore into the status of a migration with strategy
 * Recreate.
 */
final class SourceFirstStatusUpdater extends MigrationStatusUpdater {

  static final String NO_WAY_BACK =
      "its pod was removed after the artifact was stored: it can no longer be thawed; after a"
          + " failure it is restored on any compatible node, including the old one";

  SourceFirstStatusUpdater(GpuMigration migration, Instant now) {
    super(migration, now);
  }

  /** The GpuCheckpoint exists. */
  void saves(String checkpoint) {
    enter(MigrationPhase.PENDING, now());
    status.setCheckpoint(checkpoint);
    status.setNodes(null);
    report()
        .working(Reason.WAITING, "GpuCheckpoint " + checkpoint + " checkpoints the pod")
        .writeTo(status);
  }

  void waits(Reason reason, String sentence) {
    report().working(reason, sentence).writeTo(status);
  }

  /** Copies the report of the active object. */
  void sees(SourceFirstState seen) {
    status.copyProgress(null);
    if (status.getFrozenTime() == null) {
      status.setFrozenTime(seen.frozen().orElse(null));
    }
    if (status.getCommitment() == null) {
      seen.checkpoint().map(GpuCheckpoint::getStatus).ifPresent(it -> saving(seen, it));
    } else {
      seen.restore().map(GpuRestore::getStatus).ifPresent(this::restoring);
    }
  }

  private void saving(SourceFirstState seen, GpuCheckpointStatus said) {
    status.setTimings(latest(said.getTimings(), status.getTimings()));
    if (said.getArtifact() != null) {
      status.setArtifact(said.getArtifact());
      status.setBytes(said.getArtifact().getBytes());
      status.setSize(said.getArtifact().getSize());
    }
    status.copyProgress(said);
    for (PhaseTime<CheckpointPhase> entered :
        Objects.requireNonNullElse(said.getPhases(), List.<PhaseTime<CheckpointPhase>>of())) {
      if (entered.phase() == CheckpointPhase.FREEZING) {
        once(MigrationPhase.FREEZING, entered.time());
      } else if (entered.phase() == CheckpointPhase.SAVING) {
        once(MigrationPhase.FREEZING, entered.time());
        once(MigrationPhase.TRANSFERRING, entered.time());
      }
    }
    seen.source().ifPresent(this::source);
  }

  private void source(Condition said) {
    report()
        .source(
            said.status(),
            Reason.find(said.reason()).orElse(Reason.OPERATION_FAILED),
            said.message())
        .writeTo(status);
  }

  private void restoring(GpuRestoreStatus said) {
    status.setTarget(latest(said.getPod(), status.getTarget()));
    status.setAttempts(latest(said.getAttempts(), status.getAttempts()));
    status.setNodesFit(said.getNodesFit());
    status.setNodesKnown(said.getNodesKnown());
    status.setNodes(said.getNodes());
    status.setOtherContainers(said.getOtherContainers());
    status.setTargetHardware(latest(said.getHardware(), status.getTargetHardware()));
    status.setTargetTimings(latest(said.getTimings(), status.getTargetTimings()));
    status.copyProgress(said);
    RestorePhase phase = Objects.requireNonNullElse(said.getPhase(), RestorePhase.PENDING);
    PhaseLog<RestorePhase> phases = PhaseLog.of(said);
    Instant time = phases.since().orElse(now());
    switch (phase) {
      case PENDING, STARTING -> enter(MigrationPhase.TARGET_STARTING, time);
      case RESTORING -> restores(time);
      case VERIFYING, SUCCEEDED -> {
        restores(phases.last(RestorePhase.RESTORING).orElse(time));
        enter(MigrationPhase.VERIFYING, phases.last(RestorePhase.VERIFYING).orElse(time));
      }
      default -> {}
    }
  }

  private void restores(Instant time) {
    if (status.getPhase() == MigrationPhase.TRANSFERRING) {
      enter(MigrationPhase.TARGET_STARTING, time);
    }
    if (status.getPhase() != MigrationPhase.VERIFYING) {
      enter(MigrationPhase.RESTORING, time);
    }
  }

  /** The source is gone. */
  void commits() {
    Instant now = now();
    once(MigrationPhase.FREEZING, now);
    once(MigrationPhase.TRANSFERRING, now);
    status.setCommitment(new Commitment(Decision.SWITCH_OVER, now, OPERATOR));
    report()
        .working(Reason.EVICTED, NO_WAY_BACK)
        .source(ConditionValue.FALSE, Reason.EVICTED, NO_WAY_BACK)
        .writeTo(status);
  }

  /** A GpuRestore exists. */
  void bringsBack(String restore, List<Fault> before) {
    enter(MigrationPhase.TARGET_STARTING, now());
    status.setRestore(restore);
    status.setTarget(null);
    status.setFaults(before.isEmpty() ? null : before);
    report()
        .working(
            Reason.STARTING,
            before.isEmpty()
                ? "GpuRestore " + restore + " restores it"
                : "GpuRestore %s restores it on any node after a failure: %s"
                    .formatted(restore, new FaultSummary(before).message()))
        .writeTo(status);
  }

  /** The requested node is no longer waited for. */
  void givesUp(Fault why) {
    status.setFaults(List.of(why));
    report()
        .working(Reason.find(why.reason()).orElse(Reason.OPERATION_FAILED), why.message())
        .writeTo(status);
  }

  /** The target is verified. */
  void arrived(GpuRestoreStatus said) {
    List<Fault> before = Objects.requireNonNullElse(status.getFaults(), List.of());
    ObservedPod target = Objects.requireNonNull(said.getPod(), "it is verified");
    status.setTarget(target);
    status.setProof(said.getProof());
    status.setFaults(before.isEmpty() ? null : before);
    downtime(
        Optional.ofNullable(status.getFrozenTime()).or(() -> entered(MigrationPhase.FREEZING)),
        said.getProof());
    status.copyProgress(null);
    String where =
        "pod %s runs on node %s and is verified; it was frozen for %s"
            .formatted(target.name(), target.node(), status.getDowntime());
    boolean moved =
        status.getSource() == null || !Objects.equals(target.node(), status.getSource().node());
    String because = before.isEmpty() ? "" : "; before that: " + new FaultSummary(before).message();
    if (moved) {
      enter(MigrationPhase.SWITCHING_OVER, now());
      enter(MigrationPhase.SUCCEEDED, now());
      report().done(Reason.PROVEN, where + because).writeTo(status);
      return;
    }
    Reason reason =
        before.isEmpty()
            ? Reason.ROLLED_BACK
            : new FaultSummary(before).reason(Reason.OPERATION_FAILED);
    String sentence = "restored on its original node: " + where + because;
    enter(MigrationPhase.ROLLED_BACK, now());
    status.setRolledBack(
        new RolledBack(reason.value(), sentence, MigrationPhase.TARGET_STARTING, now()));
    report()
        .failed(reason, sentence)
        .also(ConditionType.ROLLED_BACK, ConditionValue.TRUE, reason, sentence)
        .writeTo(status);
  }

  /** The migration has ended, and the workload runs nowhere. */
  void ended(Reason reason, String sentence) {
    status.copyProgress(null);
    enter(MigrationPhase.FAILED, now());
    report().failed(reason, sentence).writeTo(status);
  }

  private Optional<Instant> entered(MigrationPhase phase) {
    return PhaseLog.of(status).first(phase);
  }

  private void once(MigrationPhase phase, Instant time) {
    if (entered(phase).isEmpty()) {
      enter(phase, time);
    }
  }
}
