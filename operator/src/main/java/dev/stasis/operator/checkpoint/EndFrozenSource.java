package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Timeout;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Lets the agent end the frozen processes of a pod that is being deleted. */
final class EndFrozenSource extends FreezeStep {

  private final ArtifactUpload upload;

  EndFrozenSource(CheckpointOperations operations) {
    super(
        operations,
        "end-frozen-source",
        List.of(CheckpointPhase.SAVING),
        Timeout.none("A pod that is deleted is never thawed: SIGTERM waits in its processes."));
    this.upload = new ArtifactUpload(operations);
  }

  @Override
  public Duration longestWait() {
    return Backoff.PATIENT;
  }

  @Override
  protected boolean isCurrent(CheckpointContext context, OperationView freeze) {
    return freeze.phase() == OperationPhase.HELD && context.isPodLeaving();
  }

  @Override
  protected void run(CheckpointContext context, FreezeAttempt attempt, OperationView held) {
    CheckpointStatusUpdater updater = context.updater();
    upload.held(context, held);
    context.poll();
    Optional<OperationView> end = context.operation(OperationType.END, attempt.number());
    if (end.isPresent() && end.get().isFinal() && !end.get().succeeded()) {
      String why = end.get().message("it failed");
      updater.working(Reason.OPERATION_FAILED, "End: " + why);
      context.reporter().warning(Reason.OPERATION_FAILED, "End: " + why, end.get().name());
      // The agent refuses it until it sees that the pod is being deleted.
      operations.retry(context, end.get(), held.entered());
      return;
    }
    updater.working(Reason.IN_PROGRESS, "the pod is removed; its frozen processes are being ended");
    if (end.isEmpty()) {
      operations.follow(context, OperationType.END, attempt);
    }
  }
}
