package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.common.WorkStatus;
import dev.stasis.api.v1alpha1.migration.Commitment;
import dev.stasis.api.v1alpha1.migration.Decision;
import dev.stasis.api.v1alpha1.migration.GpuMigrationStatus;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.migration.RolledBack;
import dev.stasis.api.v1alpha1.restore.GpuRestoreStatus;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import dev.stasis.operator.status.Took;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Writes down in the status of a SourceFirst migration what its two halves say. */
final class RelayLedger {

  static final String NO_WAY_BACK =
      "its pod was removed after the artifact was safe: thawing is no longer possible; a target"
          + " that fails is restored on any compatible node, the old one included";

  private final GpuMigration migration;
  private final GpuMigrationStatus status;
  private final Clock clock;

  RelayLedger(GpuMigration migration, Clock clock) {
    this.migration = migration;
    this.status = migration.getStatus();
    this.clock = clock;
  }

  /** The GpuCheckpoint is made. */
  void saves(String checkpoint) {
    enter(MigrationPhase.PENDING, clock.instant());
    status.setCheckpoint(checkpoint);
    status.setNodes(null);
    report()
        .working(Reason.WAITING, "GpuCheckpoint " + checkpoint + " saves the pod")
        .writeTo(status);
  }

  /** It waits, and why. */
  void waits(Reason reason, String sentence) {
    report().working(reason, sentence).writeTo(status);
  }

  /** Takes over what the half at work says. */
  void sees(RelayView seen) {
    new Progress(status).clear();
    if (status.getFrozenTime() == null) {
      status.setFrozenTime(seen.frozen().orElse(null));
    }
    if (status.getCommitment() == null) {
      seen.checkpoint().map(GpuCheckpoint::getStatus).ifPresent(it -> saving(seen, it));
    } else {
      seen.restore().map(GpuRestore::getStatus).ifPresent(this::restoring);
    }
  }

  private void saving(RelayView seen, GpuCheckpointStatus said) {
    if (said.getTimings() != null) {
      status.setTimings(said.getTimings());
    }
    if (said.getArtifact() != null) {
      status.setArtifact(said.getArtifact());
      status.setBytes(said.getArtifact().getBytes());
      status.setSize(said.getArtifact().getSize());
    }
    work(said);
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
    Fault word = new Fault(said.reason(), null, null, null, null, null, said.message());
    report()
        .also(
            ConditionType.SOURCE_RUNNING,
            said.status(),
            new Why(List.of(word)).reason(),
            said.message())
        .writeTo(status);
  }

  private void restoring(GpuRestoreStatus said) {
    if (said.getPod() != null) {
      status.setTarget(said.getPod());
    }
    if (said.getAttempts() != null) {
      status.setAttempts(said.getAttempts());
    }
    status.setNodesFit(said.getNodesFit());
    status.setNodesKnown(said.getNodesKnown());
    status.setNodes(said.getNodes());
    status.setOtherContainers(said.getOtherContainers());
    if (said.getHardware() != null) {
      status.setTargetHardware(said.getHardware());
    }
    if (said.getTimings() != null) {
      status.setTargetTimings(said.getTimings());
    }
    work(said);
    RestorePhase phase = Objects.requireNonNullElse(said.getPhase(), RestorePhase.PENDING);
    List<PhaseTime<RestorePhase>> phases =
        Objects.requireNonNullElse(said.getPhases(), List.<PhaseTime<RestorePhase>>of());
    Instant time = phases.isEmpty() ? clock.instant() : phases.get(phases.size() - 1).time();
    switch (phase) {
      case PENDING, STARTING -> enter(MigrationPhase.TARGET_STARTING, time);
      case RESTORING -> restores(time);
      case VERIFYING, SUCCEEDED -> {
        restores(time(phases, RestorePhase.RESTORING, time));
        enter(MigrationPhase.VERIFYING, time(phases, RestorePhase.VERIFYING, time));
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

  private static Instant time(
      List<PhaseTime<RestorePhase>> phases, RestorePhase phase, Instant otherwise) {
    return phases.stream()
        .filter(it -> it.phase() == phase)
        .map(PhaseTime::time)
        .reduce((first, second) -> second)
        .orElse(otherwise);
  }

  private void work(WorkStatus said) {
    status.setStep(said.getStep());
    status.setDoneBytes(said.getDoneBytes());
    status.setTotalBytes(said.getTotalBytes());
    status.setProgress(said.getProgress());
    status.setBytesPerSecond(said.getBytesPerSecond());
    status.setRate(said.getRate());
  }

  /** The source is gone. */
  void commits() {
    Instant now = clock.instant();
    once(MigrationPhase.FREEZING, now);
    once(MigrationPhase.TRANSFERRING, now);
    status.setCommitment(new Commitment(Decision.SWITCH_OVER, now, Ledger.OPERATOR));
    report()
        .working(Reason.EVICTED, NO_WAY_BACK)
        .also(ConditionType.SOURCE_RUNNING, Truth.FALSE, Reason.EVICTED, NO_WAY_BACK)
        .writeTo(status);
  }

  /** A GpuRestore is made. */
  void bringsBack(String restore, List<Fault> before) {
    enter(MigrationPhase.TARGET_STARTING, clock.instant());
    status.setRestore(restore);
    status.setTarget(null);
    status.setFaults(before.isEmpty() ? null : before);
    report()
        .working(
            Reason.TARGET_STARTING,
            before.isEmpty()
                ? "GpuRestore " + restore + " brings it back"
                : "GpuRestore %s brings it back on any node, since: %s"
                    .formatted(restore, new Why(before).sentence()))
        .writeTo(status);
  }

  /** Its wanted place is not waited for any longer. */
  void givesUp(Fault why) {
    status.setFaults(List.of(why));
    report().working(new Why(List.of(why)).reason(), why.message()).writeTo(status);
  }

  /** The target is proven. */
  void arrived(RelayView seen, GpuRestore restore) {
    GpuRestoreStatus said = restore.getStatus();
    List<Fault> before = seen.view().faults();
    ObservedPod target = Objects.requireNonNull(said.getPod(), "it is proven");
    status.setTarget(target);
    status.setProof(said.getProof());
    status.setFaults(before.isEmpty() ? null : before);
    downtime(said);
    new Progress(status).clear();
    String where =
        "pod %s runs on node %s, with proof; it stood still for %s"
            .formatted(target.name(), target.node(), status.getDowntime());
    boolean moved =
        status.getSource() == null || !Objects.equals(target.node(), status.getSource().node());
    String because = before.isEmpty() ? "" : "; before that: " + new Why(before).sentence();
    if (moved) {
      enter(MigrationPhase.SWITCHING_OVER, clock.instant());
      enter(MigrationPhase.SUCCEEDED, clock.instant());
      report().done(Reason.PROVEN, where + because).writeTo(status);
      return;
    }
    Reason reason = before.isEmpty() ? Reason.ROLLED_BACK : new Why(before).reason();
    String sentence = "restored on the node from which it came: " + where + because;
    enter(MigrationPhase.ROLLED_BACK, clock.instant());
    status.setRolledBack(
        new RolledBack(reason.word(), sentence, MigrationPhase.TARGET_STARTING, clock.instant()));
    report()
        .failed(reason, sentence)
        .also(ConditionType.ROLLED_BACK, Truth.TRUE, reason, sentence)
        .writeTo(status);
  }

  private void downtime(GpuRestoreStatus said) {
    Optional<Instant> since =
        Optional.ofNullable(status.getFrozenTime()).or(() -> entered(MigrationPhase.FREEZING));
    if (said.getProof() == null || since.isEmpty()) {
      return;
    }
    Duration still = Duration.between(since.get(), said.getProof().time());
    // Clocks of two machines differ: never less than nothing.
    Duration downtime = still.isNegative() ? Duration.ZERO : still;
    status.setDowntimeMilliseconds(downtime.toMillis());
    status.setDowntime(new Took(downtime).text());
  }

  /** It is over, and the workload runs nowhere. */
  void ended(Reason reason, String sentence) {
    new Progress(status).clear();
    enter(MigrationPhase.FAILED, clock.instant());
    report().failed(reason, sentence).writeTo(status);
  }

  private Optional<Instant> entered(MigrationPhase phase) {
    return Objects.requireNonNullElse(status.getPhases(), List.<PhaseTime<MigrationPhase>>of())
        .stream()
        .filter(it -> it.phase() == phase)
        .map(PhaseTime::time)
        .findFirst();
  }

  private void once(MigrationPhase phase, Instant time) {
    if (entered(phase).isEmpty()) {
      enter(phase, time);
    }
  }

  private void enter(MigrationPhase phase, Instant time) {
    PhaseLog<MigrationPhase> log =
        new PhaseLog<>(Objects.requireNonNullElse(status.getPhases(), List.of()));
    status.setPhases(log.entered(phase, time).times());
    status.setPhase(phase);
  }

  private Report report() {
    long generation = Objects.requireNonNullElse(migration.getMetadata().getGeneration(), 1L);
    return new Report(status, ConditionType.SUCCEEDED, generation, clock);
  }
}
