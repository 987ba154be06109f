package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Timeout;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Lets the agent resume the suspended workload. */
final class ResumeSource extends SuspensionStep {

  private final PostResumeCleanup cleanup;

  ResumeSource(
      CheckpointOperations operations, CheckpointFinalizer finalizer, PostResumeCleanup cleanup) {
    super(
        operations,
        finalizer,
        "resume",
        CheckpointPhase.RESUMING,
        new Timeout(
            "30 min for each try",
            "Never cut short by spec.options.deadline; 140 GB took 100 s on a busy H200."));
    this.cleanup = cleanup;
  }

  @Override
  protected boolean isCurrent(CheckpointContext context) {
    return context.isResuming();
  }

  @Override
  protected void run(CheckpointContext context, FreezeAttempt last) {
    Optional<OperationView> resume = resume(context, last);
    if (resume.isEmpty()) {
      createResume(context, last);
    } else if (!resume.get().isFinal()) {
      working(context, resume.get());
    } else if (resume.get().succeeded()) {
      resumed(context, resume.get());
    } else {
      failed(context, resume.get());
    }
  }

  private static void working(CheckpointContext context, OperationView resume) {
    Optional<String> against = context.agent(resume).against();
    context
        .updater()
        .working(
            against.isPresent() ? Reason.NODE_SILENT : Reason.IN_PROGRESS,
            against.orElse("is being resumed"));
    against.ifPresent(
        it -> context.reporter().warning(Reason.NODE_SILENT, it, "silent/" + resume.name()));
    context.poll();
  }

  private void resumed(CheckpointContext context, OperationView resume) {
    CheckpointReporter reporter = context.reporter();
    GpuCheckpointStatus status = context.status();
    CheckpointStatusUpdater updater = context.updater();
    Instant since = Objects.requireNonNullElse(status.getSuspendedTime(), context.now());
    String message = "resumed after " + Duration.between(since, context.now()).toSeconds() + "s";
    updater.also(ConditionType.SUSPENDED, ConditionValue.FALSE, Reason.RESUMED, message);
    updater.source(
        Objects.requireNonNullElse(resume.status().getSourceRunning(), ConditionValue.TRUE),
        Reason.RESUMED,
        message);
    status.setSuspendedTime(null);
    status.setFaults(null);
    updater.copyResumeTime(resume);
    new TimeSliceScheduler(context).restart();
    if (status.getArtifact() == null) {
      updater.transitionTo(CheckpointPhase.PENDING);
      updater.rests(Reason.RESUMED, message);
    } else {
      updater.transitionTo(CheckpointPhase.READY);
      updater.done(updater.artifact());
    }
    reporter.notFrozen(Reason.RESUMED, message);
    reporter.normal(Reason.RESUMED, message, "resumed/" + context.suspensions());
    context.requeueAfter(context.config().progressEvery());
    cleanup.lowerLimit(context);
  }

  private static void failed(CheckpointContext context, OperationView resume) {
    CheckpointStatusUpdater updater = context.updater();
    String why = resume.message("it could not be resumed");
    updater.faults(
        resume.faults().isEmpty()
            ? List.of(Reason.OPERATION_FAILED.misfit("resume", "that it resumes", why))
            : resume.faults());
    // With a time slice, another workload may run first.
    new TimeSliceScheduler(context).restart();
    if (resume.workload() == WorkloadState.ENDED) {
      lose(context, why);
      return;
    }
    String message = "still suspended: " + why;
    updater.transitionTo(CheckpointPhase.SUSPENDED);
    // It is repeated.
    updater.working(Reason.OPERATION_FAILED, message);
    context
        .reporter()
        .warning(
            Reason.OPERATION_FAILED,
            message,
            "resume/" + resume.operation().getMetadata().getUid());
    context.requeueAfter(context.config().progressEvery());
  }
}
