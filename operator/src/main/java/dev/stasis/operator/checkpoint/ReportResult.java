package dev.stasis.operator.checkpoint;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Objects;

/** Reports the result of the freeze once its operation is finished. */
final class ReportResult extends CheckpointStep {

  private static final String UNDONE = "cancelled and rolled back";

  private final CheckpointOperations operations;
  private final PostResumeCleanup cleanup;
  private final ThawFollowUp thaw;
  private final DryRunReport dryRun = new DryRunReport();
  private final ReadyReport ready = new ReadyReport();
  private final ArtifactUpload upload;

  ReportResult(
      CheckpointOperations operations,
      PostResumeCleanup cleanup,
      ThawFollowUp thaw,
      ArtifactUpload upload) {
    super(
        "report-result",
        List.of(CheckpointPhase.READY, CheckpointPhase.SUSPENDED),
        Timeout.none("One write of the status, which is retried."));
    this.operations = operations;
    this.cleanup = cleanup;
    this.thaw = thaw;
    this.upload = upload;
  }

  @Override
  protected Progress observe(CheckpointContext context) {
    return context
        .freeze()
        .filter(OperationView::isFinal)
        .<Progress>map(freeze -> new Progress.Due(() -> run(context, freeze)))
        .orElseGet(Progress.Done::new);
  }

  private Progress run(CheckpointContext context, OperationView freeze) {
    CheckpointStatusUpdater updater = context.updater();
    updater.copyFrom(freeze);
    updater.copyTimings(freeze, context.created());
    context.reportWorkloadStart();
    freeze.artifact().ifPresent(updater::copyArtifact);
    if (!freeze.succeeded() && freeze.artifact().isEmpty()) {
      upload.rolledBack(context);
    }
    if (context.spec().getOptions().getDryRun() && freeze.succeeded()) {
      dryRun.write(context, freeze);
      return context.reported();
    }
    EvictionOutcome eviction = new EvictionOutcome(context, freeze);
    boolean onlyCopy = eviction.isOnlyCopy();
    if (onlyCopy && eviction.isEnding()) {
      updater.working(Reason.IN_PROGRESS, "the pod is removed; its workload is ending");
      context.poll();
      return context.reported();
    }
    boolean suspended = freeze.succeeded() && freeze.workload() == WorkloadState.SUSPENDED;
    if (suspended) {
      suspended(context);
    } else if (onlyCopy) {
      ready.evicted(context);
    } else if (freeze.succeeded()) {
      succeeded(context, freeze);
    } else {
      failed(context, freeze);
    }
    if (freeze.isLeftFrozen()) {
      thaw.report(context, freeze);
    } else if (!suspended) {
      reportOnPod(context.reporter(), freeze);
      cleanup.run(context, freeze);
    }
    context.requeueAfter(context.config().progressEvery());
    return context.reported();
  }

  private static void reportOnPod(CheckpointReporter reporter, OperationView freeze) {
    switch (freeze.workload()) {
      case FROZEN -> reporter.frozen(Reason.FROZEN, message(freeze));
      case ENDED -> reporter.notFrozen(Reason.WORKLOAD_LOST, "the workload has ended");
      default -> reporter.notFrozen(Reason.RESUMED, "the workload resumed");
    }
  }

  private void succeeded(CheckpointContext context, OperationView freeze) {
    context.status().setFaults(null);
    if (freeze.workload() == WorkloadState.ENDED) {
      ready.evicted(context);
    } else if (context.spec().getAfterCheckpoint() == AfterCheckpoint.EVICT
        && freeze.workload() == WorkloadState.RUNNING) {
      thawed(context, freeze);
    } else {
      running(context, freeze, Reason.RESUMED);
      ready.write(context);
    }
  }

  private static void suspended(CheckpointContext context) {
    CheckpointReporter reporter = context.reporter();
    GpuCheckpointStatus status = context.status();
    CheckpointStatusUpdater updater = context.updater();
    int number = context.suspensions() + 1;
    status.setFaults(null);
    status.setSuspensions(number);
    status.setSuspendedTime(context.now());
    new TimeSliceScheduler(context).restart();
    updater.transitionTo(CheckpointPhase.SUSPENDED);
    String where = "in the memory of node " + context.node().orElse("unknown");
    updater.also(ConditionType.SUSPENDED, ConditionValue.TRUE, Reason.SUSPENDED, where);
    updater.source(ConditionValue.FALSE, Reason.SUSPENDED, where);
    updater.suspended(where);
    reporter.frozen(
        Reason.SUSPENDED, "suspended by GpuCheckpoint " + context.object().getMetadata().getName());
    reporter.normal(Reason.SUSPENDED, "suspended " + where, "suspended/" + number);
  }

  /** The pod was not evicted in time. The artifact is complete, but that was not requested. */
  private static void thawed(CheckpointContext context, OperationView freeze) {
    CheckpointReporter reporter = context.reporter();
    running(context, freeze, Reason.THAWED);
    String message = "the pod was not removed in time; the workload resumed";
    if (context.isCancelled()) {
      reporter.cancelled(UNDONE);
    } else {
      reporter.fail(Reason.DEADLINE_EXCEEDED, message);
    }
  }

  private void failed(CheckpointContext context, OperationView freeze) {
    CheckpointReporter reporter = context.reporter();
    source(context, freeze);
    boolean harmless =
        freeze
            .outcome()
            .map(outcome -> outcome == Outcome.REFUSED || outcome == Outcome.UNDONE)
            .orElse(true);
    if (freeze.phase() == OperationPhase.CANCELLED && context.isCancelled() && harmless) {
      reporter.cancelled(UNDONE);
    } else if (harmless && context.suspensions() > 0 && new TimeSliceScheduler(context).isOn()) {
      anotherSlice(context, freeze);
    } else {
      List<Fault> faults = faults(context, freeze);
      if (faults.isEmpty()) {
        reporter.fail(Reason.OPERATION_FAILED, message(freeze));
      } else {
        reporter.fail(
            faults,
            freeze.ended(Outcome.REFUSED) ? Reason.PREFLIGHT_REFUSED : Reason.OPERATION_FAILED);
      }
    }
    if (freeze.ended(Outcome.LOST)) {
      reporter.warning(Reason.WORKLOAD_LOST, message(freeze), "lost");
    }
  }

  /** It could not be suspended at the end of its time slice, and keeps running for another one. */
  private void anotherSlice(CheckpointContext context, OperationView freeze) {
    context.status().setFaults(faults(context, freeze));
    context
        .updater()
        .transitionTo(
            context.status().getArtifact() == null
                ? CheckpointPhase.PENDING
                : CheckpointPhase.READY);
    new TimeSliceScheduler(context).restart();
    context
        .reporter()
        .warning(
            Reason.OPERATION_FAILED,
            "keeps running for another time slice: " + message(freeze),
            "turn/" + freeze.operation().getMetadata().getUid());
    operations.release(freeze);
  }

  private static List<Fault> faults(CheckpointContext context, OperationView freeze) {
    List<Fault> all = context.faults(freeze);
    return all.isEmpty() ? noRoom(context, freeze) : all;
  }

  /** Returns why the operation was canceled, if the operator ended before it could report it. */
  private static List<Fault> noRoom(CheckpointContext context, OperationView freeze) {
    Room room = freeze.status().getRoom();
    Long needed = room == null ? null : room.neededBytes();
    Long limit = room == null ? null : room.limitBytes();
    if (freeze.phase() != OperationPhase.CANCELLED
        || context.isCancelled()
        || needed == null
        || limit == null
        || limit >= needed) {
      return List.of();
    }
    return List.of(
        Reason.NO_ROOM.misfit(
            "memory limit",
            "at least " + new HumanBytes(needed).text(),
            new HumanBytes(limit).text()));
  }

  private static String message(OperationView freeze) {
    return freeze.message("the operation " + freeze.name() + " ended " + freeze.phase());
  }

  /** Reports whether the workload runs, as the agent observed it. */
  private static void source(CheckpointContext context, OperationView freeze) {
    CheckpointStatusUpdater updater = context.updater();
    if (freeze.isUntouched()) {
      updater.untouched();
    } else if (freeze.ended(Outcome.LOST)) {
      updater.source(ConditionValue.FALSE, Reason.WORKLOAD_LOST, message(freeze));
    } else {
      running(context, freeze, Reason.THAWED);
    }
  }

  private static void running(CheckpointContext context, OperationView freeze, Reason why) {
    CheckpointStatusUpdater updater = context.updater();
    ConditionValue runs =
        Objects.requireNonNullElse(freeze.status().getSourceRunning(), ConditionValue.UNKNOWN);
    Integer processes = freeze.status().getSourceProcesses();
    String seen =
        processes == null
            ? "the agent saw it run"
            : processes + (processes == 1 ? " process RUNNING" : " processes RUNNING");
    switch (runs) {
      case TRUE -> updater.source(runs, why, seen);
      case FALSE ->
          updater.source(
              runs,
              freeze.workload() == WorkloadState.FROZEN ? Reason.FROZEN : Reason.WORKLOAD_LOST,
              message(freeze));
      case UNKNOWN -> updater.source(runs, Reason.OPERATION_FAILED, "unknown: " + message(freeze));
    }
  }
}
