package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Validates the pod, and creates the operation that freezes it. */
final class AdmitSource extends CheckpointStep {

  /**
   * How often one is observed whose namespace is at its limit. It is triggered when an older one
   * ends; thousands may wait.
   */
  private static final Duration FULL = Duration.ofMinutes(1);

  private final CheckpointOperations operations;
  private final CheckpointValidator validator = new CheckpointValidator();
  private final PodWrites pods;
  private final Departure departure;
  private final Template template;
  private final DryRunReport dryRun = new DryRunReport();

  AdmitSource(
      CheckpointOperations operations, PodWrites pods, Departure departure, Template template) {
    super(
        "admit",
        List.of(CheckpointPhase.PENDING),
        new Timeout("spec.options.deadline", "Nothing is changed meanwhile."));
    this.operations = operations;
    this.pods = pods;
    this.departure = departure;
    this.template = template;
  }

  /** A suspension may begin while the artifact of an earlier one is Ready. */
  @Override
  protected CheckpointPhase phase(CheckpointContext context) {
    return context.phase();
  }

  @Override
  protected Progress observe(CheckpointContext context) {
    boolean current =
        (context.phase() == CheckpointPhase.PENDING || context.phase() == CheckpointPhase.READY)
            && context.freeze().isEmpty()
            && !context.isReady();
    return current ? new Progress.Due(() -> run(context)) : new Progress.Done();
  }

  private Progress run(CheckpointContext context) {
    CheckpointReporter reporter = context.reporter();
    // The freeze first: a resume without it would be one of a workload that runs.
    context.operations().stream()
        .filter(OperationView::isFinal)
        .sorted(Comparator.comparing(view -> view.type() == OperationType.RESUME))
        .forEach(operations::release);
    if (context.status().getPhase() == null) {
      context.updater().transitionTo(CheckpointPhase.PENDING);
    }
    if (context.suspends() && !context.wantsSuspended() && !context.isCancelled()) {
      idle(context);
      return context.reported();
    }
    if (context.isCancelled()) {
      reporter.cancelled("cancelled before anything was changed");
      return context.reported();
    }
    FreezeAttempt attempt = FreezeAttempt.next(context);
    CheckpointValidator.Result result = validator.validate(context, attempt);
    if (result instanceof CheckpointValidator.Admitted admitted) {
      return admit(context, attempt, admitted);
    }
    if (result instanceof CheckpointValidator.Refused refused) {
      return refuse(context, refused);
    }
    CheckpointValidator.Wait wait = (CheckpointValidator.Wait) result;
    if (attempt.number() == 1 && context.isLate()) {
      reporter.fail(
          Reason.DEADLINE_EXCEEDED,
          "deadline: expected it to start within %s, got it waiting: %s"
              .formatted(context.spec().getOptions().getDeadline(), wait.message()));
      return context.reported();
    }
    return wait(context, wait);
  }

  /** The workload runs, as its user or its time slice requires. */
  private static void idle(CheckpointContext context) {
    CheckpointStatusUpdater updater = context.updater();
    if (context.suspensions() == 0) {
      updater.rests(Reason.NOT_SUSPENDED, "spec.desiredState is Running");
    } else {
      updater.rests(Reason.RESUMED, "resumed; spec.desiredState is Running");
      new TimeSliceScheduler(context).running();
    }
  }

  private Progress refuse(CheckpointContext context, CheckpointValidator.Refused refused) {
    if (context.spec().getOptions().getDryRun()) {
      dryRun.withoutAgent(context, refused.faults());
      return context.reported();
    }
    boolean runs =
        context
            .pod()
            .map(PodState::new)
            .filter(pod -> pod.isIn("Running") && !pod.isBeingDeleted())
            .isPresent();
    if (runs) {
      context.updater().untouched();
    }
    return new Progress.Failed(refused.faults());
  }

  private static Progress wait(CheckpointContext context, CheckpointValidator.Wait wait) {
    context.updater().untouched();
    if (wait.reason() == Reason.NODE_SILENT) {
      // Every other wait is in the status alone.
      context.reporter().warning(wait.reason(), wait.message(), "waits/" + wait.reason());
    }
    if (wait.reason() == Reason.TOO_MANY_CHECKPOINTS) {
      context.requeueAfter(FULL);
    } else {
      context.poll();
    }
    context.requeueAtDeadline();
    return new Progress.Waiting(wait.reason(), wait.message());
  }

  private Progress admit(
      CheckpointContext context, FreezeAttempt attempt, CheckpointValidator.Admitted admitted) {
    CheckpointStatusUpdater updater = context.updater();
    CheckpointReporter reporter = context.reporter();
    if (context.spec().getAfterCheckpoint() == AfterCheckpoint.EVICT
        && !context.spec().getOptions().getDryRun()
        // The webhook has tested that already, and its budget refuses every eviction since then.
        && !context.isForAnEviction()) {
      Optional<String> owner =
          Owners.of(admitted.pod()).isPresent() ? departure.refusal() : Optional.empty();
      if (owner.isPresent()) {
        updater.untouched();
        reporter.fail(Reason.OWNED_POD, owner.get());
        return context.reported();
      }
      if (pods.evict(admitted.pod(), true) instanceof PodWrites.Refused refused) {
        if (refused.later() && !context.isLate()) {
          return wait(
              context, new CheckpointValidator.Wait(Reason.EVICTION_REFUSED, refused.sentence()));
        }
        updater.untouched();
        reporter.fail(Reason.EVICTION_REFUSED, refused.sentence());
        return context.reported();
      }
    }
    return create(context, attempt, admitted);
  }

  private Progress create(
      CheckpointContext context, FreezeAttempt attempt, CheckpointValidator.Admitted admitted) {
    GpuCheckpointStatus status = context.status();
    ObjectMeta pod = admitted.pod().getMetadata();
    status.setPod(
        new ObservedPod(pod.getName(), pod.getUid(), admitted.container(), admitted.node()));
    if (attempt.number() == 1) {
      status.setPodTemplate(template.of(admitted.pod()));
    }
    status.setOtherContainers(admitted.others().isEmpty() ? null : admitted.others());
    status.setFaults(null);
    GpuNodeOperation freeze = operations.freeze(context, attempt, admitted);
    status.setOperation(freeze.getMetadata().getName());
    context.updater().untouched();
    context.requeueAt(context.agent(admitted.node()).silentAt());
    context.requeueAtDeadline();
    return new Progress.Waiting(
        Reason.WAITING_FOR_AGENT, "requested from the agent of node " + admitted.node());
  }
}
