package dev.stasis.operator.checkpoint;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.text.HumanDuration;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** An order is carried out, or failed: says what came of it. */
final class Ending {

  private final Onward onward;
  private final LeftFrozen leftFrozen;
  private final Explaining explaining;
  private final Places places;

  Ending(Onward onward, LeftFrozen leftFrozen, Explaining explaining, Places places) {
    this.onward = onward;
    this.leftFrozen = leftFrozen;
    this.explaining = explaining;
    this.places = places;
  }

  void next(Turn turn, Frozen frozen, OperationView view) {
    Following.takeOver(turn, view);
    timings(turn, view);
    view.artifact().ifPresent(artifact -> RemoteUpload.takeOver(turn, artifact));
    if (!view.succeeded() && view.artifact().isEmpty()) {
      RemoteUpload.undone(turn);
    }
    if (turn.spec().getOptions().getDryRun() && view.succeeded()) {
      explaining.next(turn, view);
      return;
    }
    boolean suspended = view.succeeded() && view.workload() == WorkloadState.SUSPENDED;
    if (view.succeeded()) {
      succeeded(turn, frozen, view, suspended);
    } else {
      failed(turn, view);
    }
    if (view.isLeftFrozen()) {
      leftFrozen.say(turn, view);
    } else if (!suspended) {
      turn.mark(mark(view));
      onward.next(turn, view);
    }
    turn.again(turn.config().progressEvery());
  }

  private static PodConditionUpdate mark(OperationView view) {
    return switch (view.workload()) {
      case FROZEN -> PodConditionUpdate.frozen(Reason.FROZEN.value(), said(view));
      case ENDED ->
          PodConditionUpdate.notFrozen(Reason.WORKLOAD_LOST.value(), "the workload has ended");
      default -> PodConditionUpdate.notFrozen(Reason.RESUMED.value(), "the workload goes on");
    };
  }

  private void succeeded(Turn turn, Frozen frozen, OperationView view, boolean suspended) {
    GpuCheckpointStatus status = turn.status();
    status.setFaults(null);
    if (suspended) {
      suspended(turn, frozen);
    } else if (turn.spec().getAfterCheckpoint() == AfterCheckpoint.EVICT
        && view.workload() == WorkloadState.RUNNING) {
      thawed(turn, view);
    } else if (view.workload() == WorkloadState.ENDED) {
      turn.report()
          .also(
              ConditionType.SOURCE_RUNNING,
              ConditionValue.FALSE,
              Reason.EVICTED,
              "its pod was removed after the artifact was safe");
      ready(turn);
    } else {
      running(turn, view, Reason.RESUMED);
      ready(turn);
    }
  }

  private void ready(Turn turn) {
    turn.enter(CheckpointPhase.READY);
    // In the same write: another one later would tell those who watch that something happened.
    places.write(turn);
    turn.report().done(Reason.ARTIFACT_VERIFIED, artifact(turn));
    CheckpointTimings timings = turn.status().getTimings();
    String frozen = timings == null ? null : timings.getFrozen();
    turn.tell(
        false,
        Reason.ARTIFACT_VERIFIED,
        artifact(turn) + (frozen == null ? "" : ", frozen for " + frozen),
        "ready");
  }

  private static void suspended(Turn turn, Frozen frozen) {
    turn.status().setSuspensions(frozen.number());
    turn.status().setSuspendedTime(turn.now());
    new TimeSliceScheduler(turn).restart();
    turn.enter(CheckpointPhase.SUSPENDED);
    String where = "in the memory of node " + turn.node().orElse("unknown");
    turn.report()
        .also(ConditionType.SUSPENDED, ConditionValue.TRUE, Reason.SUSPENDED, where)
        .also(ConditionType.SOURCE_RUNNING, ConditionValue.FALSE, Reason.SUSPENDED, where);
    if (turn.status().getArtifact() == null) {
      turn.report().rests(Reason.NO_ARTIFACT, "suspended " + where);
    } else {
      turn.report().done(Reason.ARTIFACT_VERIFIED, artifact(turn));
    }
    turn.mark(
        PodConditionUpdate.frozen(
            Reason.SUSPENDED.value(),
            "suspended by GpuCheckpoint " + turn.object().getMetadata().getName()));
    turn.tell(false, Reason.SUSPENDED, "suspended " + where, "suspended/" + frozen.number());
  }

  /** An eviction that was given up: the artifact is whole, but that was not what was asked for. */
  private static void thawed(Turn turn, OperationView view) {
    running(turn, view, Reason.THAWED);
    String sentence = "the pod was not removed in time; the workload goes on";
    if (turn.isCancelled()) {
      cancelled(turn);
    } else {
      turn.fail(Reason.DEADLINE_EXCEEDED, sentence);
    }
  }

  private static void cancelled(Turn turn) {
    turn.enter(CheckpointPhase.CANCELLED);
    turn.report().cancelled(Reason.CANCELLED, "cancelled; everything is undone");
    turn.tell(false, Reason.CANCELLED, "cancelled; everything is undone", "cancelled");
  }

  private static void failed(Turn turn, OperationView view) {
    source(turn, view);
    boolean harmless =
        view.outcome()
            .map(outcome -> outcome == Outcome.REFUSED || outcome == Outcome.UNDONE)
            .orElse(true);
    if (view.phase() == OperationPhase.CANCELLED && turn.isCancelled() && harmless) {
      cancelled(turn);
    } else if (harmless && Frozen.suspensions(turn) > 0 && new TimeSliceScheduler(turn).isOn()) {
      anotherSlice(turn, view);
    } else {
      List<Fault> faults = faults(turn, view);
      if (faults.isEmpty()) {
        turn.fail(Reason.OPERATION_FAILED, said(view));
      } else {
        turn.fail(
            faults,
            view.outcome().filter(outcome -> outcome == Outcome.REFUSED).isPresent()
                ? Reason.PREFLIGHT_REFUSED
                : Reason.OPERATION_FAILED);
      }
    }
    if (view.outcome().filter(outcome -> outcome == Outcome.LOST).isPresent()) {
      turn.tell(true, Reason.WORKLOAD_LOST, said(view), "lost");
    }
  }

  /** It could not be suspended when its turn was over: it runs on for another one. */
  private static void anotherSlice(Turn turn, OperationView view) {
    turn.status().setFaults(faults(turn, view));
    turn.enter(
        turn.status().getArtifact() == null ? CheckpointPhase.PENDING : CheckpointPhase.READY);
    new TimeSliceScheduler(turn).restart();
    turn.tell(
        true,
        Reason.OPERATION_FAILED,
        "runs on for another turn: " + said(view),
        "turn/" + view.operation().getMetadata().getUid());
    turn.act(new Act.Release(view));
  }

  /** Those for which the order was given up here, then the agent's. */
  private static List<Fault> faults(Turn turn, OperationView view) {
    List<Fault> ours = Objects.requireNonNullElse(turn.status().getFaults(), List.of());
    List<Fault> all = Stream.concat(ours.stream(), view.faults().stream()).distinct().toList();
    return all.isEmpty() ? noRoom(turn, view) : all;
  }

  /** Why the order was cancelled here, if the operator ended before it could say so. */
  private static List<Fault> noRoom(Turn turn, OperationView view) {
    Room room = view.status().getRoom();
    Long needed = room == null ? null : room.neededBytes();
    Long limit = room == null ? null : room.limitBytes();
    if (view.phase() != OperationPhase.CANCELLED
        || turn.isCancelled()
        || needed == null
        || limit == null
        || limit >= needed) {
      return List.of();
    }
    return List.of(
        Reasons.fault(
            Reason.NO_ROOM,
            "memory limit",
            "at least " + new HumanBytes(needed).text(),
            new HumanBytes(limit).text()));
  }

  private static String said(OperationView view) {
    return Objects.requireNonNullElse(
        view.status().getMessage(), "the operation " + view.name() + " ended " + view.phase());
  }

  /** What became of the workload, as the agent looked at it. */
  private static void source(Turn turn, OperationView view) {
    Outcome outcome = view.outcome().orElse(Outcome.NOT_UNDONE);
    boolean neverFrozen =
        view.status().getSourceRunning() == null && view.status().getWorkload() == null;
    switch (neverFrozen && outcome == Outcome.UNDONE ? Outcome.REFUSED : outcome) {
      case REFUSED ->
          turn.report()
              .also(
                  ConditionType.SOURCE_RUNNING,
                  ConditionValue.TRUE,
                  Reason.UNTOUCHED,
                  "nobody touched it");
      case LOST ->
          turn.report()
              .also(
                  ConditionType.SOURCE_RUNNING,
                  ConditionValue.FALSE,
                  Reason.WORKLOAD_LOST,
                  said(view));
      default -> running(turn, view, Reason.THAWED);
    }
  }

  private static void running(Turn turn, OperationView view, Reason why) {
    ConditionValue runs =
        Objects.requireNonNullElse(view.status().getSourceRunning(), ConditionValue.UNKNOWN);
    Integer processes = view.status().getSourceProcesses();
    String seen =
        processes == null
            ? "the agent saw it run"
            : processes + (processes == 1 ? " process RUNNING" : " processes RUNNING");
    switch (runs) {
      case TRUE -> turn.report().also(ConditionType.SOURCE_RUNNING, runs, why, seen);
      case FALSE ->
          turn.report()
              .also(
                  ConditionType.SOURCE_RUNNING,
                  runs,
                  view.workload() == WorkloadState.FROZEN ? Reason.FROZEN : Reason.WORKLOAD_LOST,
                  said(view));
      case UNKNOWN ->
          turn.report()
              .also(
                  ConditionType.SOURCE_RUNNING,
                  runs,
                  Reason.OPERATION_FAILED,
                  "nobody can say: " + said(view));
    }
  }

  static String artifact(Turn turn) {
    ArtifactStatus artifact = turn.status().getArtifact();
    return artifact == null
        ? "an artifact"
        : artifact.getSize() + " in store " + artifact.getStore();
  }

  private static void timings(Turn turn, OperationView view) {
    CheckpointTimings timings = view.status().getTimings();
    if (timings == null) {
      return;
    }
    Optional.ofNullable(view.status().getClaimedBy())
        .map(claim -> Duration.between(turn.created(), claim.time()))
        .filter(waited -> !waited.isNegative() && timings.getWaitedMilliseconds() == null)
        .ifPresent(waited -> timings.setWaitedMilliseconds(waited.toMillis()));
    Long frozen = timings.getFrozenMilliseconds();
    if (frozen != null) {
      timings.setFrozen(new HumanDuration(Duration.ofMillis(frozen)).text());
    }
    CheckpointTimings before = turn.status().getTimings();
    if (before != null && timings.getResumeMilliseconds() == null) {
      timings.setResumeMilliseconds(before.getResumeMilliseconds());
    }
    turn.status().setTimings(timings);
  }
}
