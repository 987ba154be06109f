package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.checkpoint.ImportSource;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Lets an agent verify every byte of an artifact that is in its store already. The object has no
 * artifact before, so a refused one is never deleted.
 */
final class ImportArtifact extends OperationStep {

  private static final String CANCELLED = "cancelled; the artifact is not changed";

  private final ImportValidator validator = new ImportValidator();
  private final ImportedPodPolicy policy;

  ImportArtifact(CheckpointOperations operations, ImportedPodPolicy policy) {
    super(
        operations,
        "import-artifact",
        List.of(CheckpointPhase.PENDING, CheckpointPhase.IMPORTING),
        new Timeout(
            "spec.options.deadline", "Nothing is frozen, and the artifact is not changed."));
    this.policy = policy;
  }

  /** An operation that was removed is created again without a change of the phase. */
  @Override
  protected CheckpointPhase phase(CheckpointContext context) {
    return context.phase();
  }

  @Override
  public String undoes() {
    return "cancels the check; the artifact is not changed";
  }

  @Override
  protected Progress observe(CheckpointContext context) {
    return context.phase() == CheckpointPhase.READY
        ? new Progress.Done()
        : new Progress.Due(() -> run(context));
  }

  private Progress run(CheckpointContext context) {
    if (context.status().getPhase() == null) {
      context.updater().transitionTo(CheckpointPhase.PENDING);
    }
    Optional<OperationView> operation = context.operation(OperationType.IMPORT, 1);
    if (operation.isEmpty()) {
      return begin(context);
    }
    return operation.get().isFinal()
        ? end(context, operation.get())
        : follow(context, operation.get(), true);
  }

  private Progress begin(CheckpointContext context) {
    CheckpointReporter reporter = context.reporter();
    if (context.isCancelled()) {
      reporter.cancelled(CANCELLED);
      return context.reported();
    }
    ImportSource from = Objects.requireNonNull(context.spec().getImportFrom(), "it is an import");
    CheckpointValidator.Result result = validator.validate(context, from);
    if (result instanceof CheckpointValidator.Refused refused) {
      return new Progress.Failed(refused.faults());
    }
    if (context.isLate()) {
      String found =
          result instanceof CheckpointValidator.Wait wait ? wait.message() : "that it was";
      reporter.fail(
          Reason.DEADLINE_EXCEEDED,
          "deadline: expected it to start within %s, got it waiting: %s"
              .formatted(context.spec().getOptions().getDeadline(), found));
      return context.reported();
    }
    context.poll();
    if (result instanceof CheckpointValidator.Wait wait) {
      context.requeueAtDeadline();
      return new Progress.Waiting(wait.reason(), wait.message());
    }
    ImportValidator.Admitted admitted = (ImportValidator.Admitted) result;
    GpuNodeOperation operation =
        operations.importing(context, from, admitted.store(), admitted.node());
    context.status().setOperation(operation.getMetadata().getName());
    return new Progress.Waiting(
        Reason.WAITING_FOR_AGENT, "requested from the agent of node " + admitted.node());
  }

  @Override
  protected Progress nodeGone(CheckpointContext context, NodeAgent agent) {
    return new Progress.Lost(Reason.NODE_GONE, "node " + agent.node() + " is gone");
  }

  @Override
  protected void working(CheckpointContext context, OperationView operation) {
    CheckpointStatusUpdater updater = context.updater();
    if (operation.phase() == OperationPhase.RUNNING) {
      updater.transitionTo(CheckpointPhase.IMPORTING);
    }
    Explanation explanation = operation.status().getExplanation();
    Long bytes = explanation == null ? null : explanation.expectedBytes();
    boolean cancelled = operation.isCancelled();
    List<Fault> faults =
        bytes == null || cancelled ? List.of() : validator.quota(context, operation, bytes);
    if (!faults.isEmpty()) {
      updater.faults(faults);
      operations.cancel(operation);
    }
    updater.working(
        cancelled ? Reason.CANCELLED : Reason.IN_PROGRESS,
        cancelled ? "is being cancelled" : "checking every byte of the artifact");
  }

  private Progress end(CheckpointContext context, OperationView operation) {
    context.updater().copyFrom(operation);
    Optional<ArtifactStatus> artifact = operation.artifact();
    if (operation.succeeded() && artifact.isPresent()) {
      verified(context, operation, artifact.get());
    } else if (operation.phase() == OperationPhase.CANCELLED && context.isCancelled()) {
      context.reporter().cancelled(CANCELLED);
    } else {
      failed(context, operation);
    }
    context.requeueAfter(context.config().progressEvery());
    return context.reported();
  }

  /** Every byte is right. The import is validated again, now that the artifact is known. */
  private void verified(
      CheckpointContext context, OperationView operation, ArtifactStatus artifact) {
    CheckpointStatusUpdater updater = context.updater();
    CheckpointReporter reporter = context.reporter();
    GpuNodeOperationStatus reported = operation.status();
    List<Fault> faults = faults(context, operation, artifact);
    if (!faults.isEmpty()) {
      reporter.fail(faults, Reason.NOT_IMPORTED);
      return;
    }
    GpuCheckpointStatus status = context.status();
    status.setFaults(null);
    status.setArtifact(artifact);
    status.setPod(
        new ObservedPod(
            context.spec().podName(), null, reported.getContainerName(), artifact.getNode()));
    status.setPodTemplate(reported.getPodTemplate());
    // Its command line is reported only with the template.
    updater.copyFrom(operation);
    List<String> others = reported.getOtherContainers();
    status.setOtherContainers(others == null || others.isEmpty() ? null : others);
    updater.transitionTo(CheckpointPhase.IMPORTING);
    updater.transitionTo(CheckpointPhase.READY);
    context.restorable().write(context);
    String message = updater.artifact() + ", imported from " + artifact.getLocation();
    updater.done(message);
    reporter.normal(Reason.ARTIFACT_VERIFIED, message, "ready");
  }

  private List<Fault> faults(
      CheckpointContext context, OperationView operation, ArtifactStatus artifact) {
    Optional<Fault> owned =
        validator.foreign(context, artifact).or(() -> validator.taken(context, artifact));
    if (owned.isPresent()) {
      return List.of(owned.get());
    }
    long bytes = Objects.requireNonNullElse(artifact.getBytes(), 0L);
    List<Fault> quota = validator.quota(context, operation, bytes);
    return quota.isEmpty()
        ? policy.faults(operation.status().getPodTemplate(), context.spec().podName())
        : quota;
  }

  /** Reports the faults for which the operator canceled the operation, then the agent's. */
  private static void failed(CheckpointContext context, OperationView operation) {
    CheckpointReporter reporter = context.reporter();
    List<Fault> faults = context.faults(operation);
    if (faults.isEmpty()) {
      reporter.fail(
          Reason.OPERATION_FAILED,
          operation.message("the operation " + operation.name() + " ended"));
    } else {
      reporter.fail(faults, Reason.NOT_IMPORTED);
    }
  }
}
