package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Timeout;
import java.time.Instant;
import java.util.Optional;

/** Keeps the workload suspended, until its user or its time slice lets it run. */
final class StaySuspended extends SuspensionStep {

  StaySuspended(CheckpointOperations operations, CheckpointFinalizer finalizer) {
    super(
        operations,
        finalizer,
        "stay-suspended",
        CheckpointPhase.SUSPENDED,
        Timeout.none("Until spec.desiredState is Running, or its time slice begins."));
  }

  @Override
  public String undoes() {
    return "resumes the workload";
  }

  @Override
  protected boolean isCurrent(CheckpointContext context) {
    return context.phase() == CheckpointPhase.SUSPENDED;
  }

  @Override
  protected void run(CheckpointContext context, FreezeAttempt last) {
    CheckpointStatusUpdater updater = context.updater();
    Optional<OperationView> failed = resume(context, last).filter(OperationView::isFinal);
    if (failed.isPresent()) {
      operations.release(failed.get());
      context.requeueAfter(context.config().progressEvery());
      return;
    }
    TimeSliceScheduler slices = new TimeSliceScheduler(context);
    if (slices.isOn() ? !slices.verdict().runs() : context.wantsSuspended()) {
      stay(context, slices);
      return;
    }
    Instant notBefore = notBefore(context);
    if (context.now().isBefore(notBefore)) {
      context.requeueAt(notBefore);
      return;
    }
    updater.transitionTo(CheckpointPhase.RESUMING);
    updater.working(Reason.IN_PROGRESS, "is being resumed");
    createResume(context, last);
  }

  private static void stay(CheckpointContext context, TimeSliceScheduler slices) {
    CheckpointStatusUpdater updater = context.updater();
    String where = "in the memory of node " + context.node().orElse("unknown");
    updater.also(ConditionType.SUSPENDED, ConditionValue.TRUE, Reason.SUSPENDED, where);
    boolean isToRun = slices.isOn() && context.spec().getDesiredState() != DesiredState.SUSPENDED;
    if (!isToRun && updater.find(ConditionType.RECONCILING).isPresent()) {
      // A resume failed, and its user does not want another one.
      updater.suspended(where);
    }
    context
        .reporter()
        .frozen(
            Reason.SUSPENDED,
            "suspended by GpuCheckpoint " + context.object().getMetadata().getName());
    if (slices.isOn()) {
      slices.waiting();
    }
  }

  /** Returns when a resume may begin: one that failed is not repeated at once. */
  private static Instant notBefore(CheckpointContext context) {
    return context.status().getFaults() == null || context.phases().isEmpty()
        ? context.now()
        : context.entered().plus(context.config().lookAgainEvery());
  }
}
