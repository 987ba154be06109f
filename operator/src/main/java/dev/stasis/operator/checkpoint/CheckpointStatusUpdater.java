package dev.stasis.operator.checkpoint;

import dev.stasis.api.text.HumanDuration;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.operator.explain.Explainer;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import dev.stasis.operator.workflow.StatusUpdater;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes observations and actions into the status of a GpuCheckpoint. */
final class CheckpointStatusUpdater extends StatusUpdater<CheckpointPhase, GpuCheckpointStatus> {

  /** Phases of a freeze that may pass unobserved. A frozen workload is never imported. */
  private static final List<CheckpointPhase> PASSED =
      List.of(CheckpointPhase.FREEZING, CheckpointPhase.SAVING, CheckpointPhase.RESUMING);

  private final GpuCheckpoint checkpoint;
  private final UnexpandedCommands commands;

  CheckpointStatusUpdater(GpuCheckpoint checkpoint, UnexpandedCommands commands, Instant now) {
    super(checkpoint, checkpoint.getStatus(), ConditionType.READY, now);
    this.checkpoint = checkpoint;
    this.commands = commands;
  }

  /** Reports the generation of the spec that is observed. */
  void observes() {
    report().writeTo(status);
    hideSecrets();
  }

  /** Enters a phase, and those before it: an agent may pass several between two observations. */
  void transitionTo(CheckpointPhase phase) {
    if (checkpoint.getMetadata().getDeletionTimestamp() != null) {
      // A deletion is no phase, and undoes any of them.
      return;
    }
    PhaseLog<CheckpointPhase> log = PhaseLog.of(status);
    if (log.current().isEmpty()) {
      enter(CheckpointPhase.PENDING);
    }
    pass(log.current().orElse(CheckpointPhase.PENDING), phase);
    status.setPhase(phase);
  }

  private void pass(CheckpointPhase from, CheckpointPhase to) {
    if (from != to && !from.successors().contains(to)) {
      List<CheckpointPhase> next = PASSED.stream().filter(from.successors()::contains).toList();
      CheckpointPhase passed =
          next.stream()
              .filter(phase -> phase.successors().contains(to))
              .findFirst()
              .orElseGet(() -> next.isEmpty() ? to : next.get(0));
      enter(passed);
      if (passed != to) {
        pass(passed, to);
      }
      return;
    }
    enter(to);
  }

  /** It is in progress, or waits. An artifact of an earlier suspension is still valid. */
  void working(Reason reason, String message) {
    Report report = report();
    if (hasEarlierArtifact()) {
      report.workingAgain(reason, message, Reason.ARTIFACT_VERIFIED, artifact());
    } else {
      report.working(reason, message);
    }
    report.writeTo(status);
  }

  /** Reports that the artifact is complete and verified. */
  void done(String message) {
    report().done(Reason.ARTIFACT_VERIFIED, message).writeTo(status);
  }

  /** It is as desired, without an artifact. */
  void rests(Reason reason, String message) {
    report().rests(reason, message).writeTo(status);
  }

  /** It is suspended, as desired. */
  void suspended(String where) {
    if (status.getArtifact() == null) {
      rests(Reason.NO_ARTIFACT, "suspended " + where);
    } else {
      done(artifact());
    }
  }

  /** The artifact of a deleted object is being deleted. */
  void deleting(Reason reason, String message) {
    report().working(reason, message).writeTo(status);
  }

  void cancelled(String message) {
    transitionTo(CheckpointPhase.CANCELLED);
    report().stalled(Reason.CANCELLED, message).writeTo(status);
  }

  void failed(Reason reason, String message) {
    transitionTo(CheckpointPhase.FAILED);
    Report report = report().failed(reason, message);
    if (hasEarlierArtifact()) {
      report.keeps(Reason.ARTIFACT_VERIFIED, artifact());
    }
    report.writeTo(status);
  }

  void explained(Explainer explainer, Explainer.Findings findings) {
    transitionTo(CheckpointPhase.EXPLAINED);
    Report report = report();
    explainer.write(findings, status, report);
    report.writeTo(status);
  }

  /** Reports whether the workload runs. */
  void source(ConditionValue runs, Reason reason, String message) {
    also(ConditionType.SOURCE_RUNNING, runs, reason, message);
  }

  void untouched() {
    source(ConditionValue.TRUE, Reason.UNTOUCHED, "it was not changed");
  }

  Optional<Condition> find(ConditionType type) {
    return report().find(type);
  }

  void drop(ConditionType type) {
    report().drop(type).writeTo(status);
  }

  void faults(List<Fault> faults) {
    status.setFaults(faults);
  }

  private boolean hasEarlierArtifact() {
    return status.getArtifact() != null
        && Objects.requireNonNullElse(status.getSuspensions(), 0) > 0;
  }

  /** Returns the artifact in words. */
  String artifact() {
    ArtifactStatus artifact = status.getArtifact();
    return artifact == null
        ? "an artifact"
        : artifact.getSize() + " in store " + artifact.getStore();
  }

  /** Copies the agent's report. */
  void copyFrom(OperationView operation) {
    GpuNodeOperationStatus from = operation.status();
    status.setOperation(operation.isFinal() ? null : operation.name());
    status.copyProgress(operation.isFinal() ? null : from);
    status.setHardware(latest(from.getHardware(), status.getHardware()));
    status.setDataPath(latest(from.getDataPath(), status.getDataPath()));
    status.setDataPathReason(latest(from.getDataPathReason(), status.getDataPathReason()));
    status.setPod(latest(status.getPod(), CheckpointOperations.pod(operation)));
    status.setPodTemplate(
        latest(status.getPodTemplate(), CheckpointOperations.template(operation)));
    status.setArgv(latest(from.getArgv(), status.getArgv()));
    hideSecrets();
    if (from.getRoom() != null) {
      Room before = status.getRoom();
      Room found = from.getRoom();
      String original = before == null ? found.originalLimit() : before.originalLimit();
      status.setRoom(room(found, needed(before, found), original));
    }
  }

  /** Reports the memory limit to which the pod is to return. */
  void limitRaised(@Nullable String original) {
    Room known = Objects.requireNonNull(status.getRoom(), "the agent reported it");
    status.setRoom(room(known, known.neededBytes(), original));
  }

  private static Room room(Room known, @Nullable Long needed, @Nullable String original) {
    return new Room(needed, known.usedBytes(), known.limitBytes(), original, known.nodeFreeBytes());
  }

  /**
   * Returns the larger value. The limit was raised for it, and that value identifies the raised
   * limit later. The agent inspects the workload again after its hooks, when it may use less.
   */
  private static @Nullable Long needed(@Nullable Room before, Room found) {
    Long known = before == null ? null : before.neededBytes();
    Long now = found.neededBytes();
    return known == null || now == null ? now : Long.valueOf(Math.max(known, now));
  }

  private void hideSecrets() {
    commands.hideSecrets(checkpoint.getMetadata().getUid(), status);
  }

  /** Copies the artifact, and keeps what an upload has added to it. */
  void copyArtifact(ArtifactStatus reported) {
    ArtifactStatus known = status.getArtifact();
    boolean uploaded =
        known != null
            && known.getNode() == null
            && reported.getNode() != null
            && Objects.equals(known.getLocation(), reported.getLocation())
            && Objects.equals(known.getSha256(), reported.getSha256());
    if (!uploaded) {
      status.setArtifact(reported);
    }
  }

  /** Copies the durations of a freeze. */
  void copyTimings(OperationView operation, Instant created) {
    CheckpointTimings timings = operation.status().getTimings();
    if (timings == null) {
      return;
    }
    Optional.ofNullable(operation.status().getClaimedBy())
        .map(claim -> Duration.between(created, claim.time()))
        .filter(waited -> !waited.isNegative() && timings.getWaitedMilliseconds() == null)
        .ifPresent(waited -> timings.setWaitedMilliseconds(waited.toMillis()));
    Long frozen = timings.getFrozenMilliseconds();
    if (frozen != null) {
      timings.setFrozen(new HumanDuration(Duration.ofMillis(frozen)).text());
    }
    CheckpointTimings before = status.getTimings();
    if (before != null && timings.getResumeMilliseconds() == null) {
      timings.setResumeMilliseconds(before.getResumeMilliseconds());
    }
    status.setTimings(timings);
  }

  /** Copies the duration of a resume, beside those of the freeze. */
  void copyResumeTime(OperationView operation) {
    CheckpointTimings reported = operation.status().getTimings();
    if (reported != null && reported.getResumeMilliseconds() != null) {
      CheckpointTimings all =
          Objects.requireNonNullElseGet(status.getTimings(), CheckpointTimings::new);
      all.setResumeMilliseconds(reported.getResumeMilliseconds());
      status.setTimings(all);
    }
  }
}
