package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.resize.HeadroomNegotiation;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Lets the agent freeze the workload and write the artifact. */
final class FreezeSource extends FreezeStep {

  /** Steps of the engine during which the workload is being frozen. */
  private static final Set<String> FREEZING = Set.of("lock", "gpu-checkpoint", "stop");

  /** Steps during which the artifact is written. */
  private static final Set<String> SAVING = Set.of("move", "dump", "layer", "copied");

  /** Steps after which the workload runs again. */
  private static final Set<String> RESUMING = Set.of("fill", "continue", "gpu-restore", "unlock");

  private final CheckpointFinalizer finalizer;

  FreezeSource(CheckpointOperations operations, CheckpointFinalizer finalizer) {
    super(
        operations,
        "freeze-source",
        List.of(CheckpointPhase.FREEZING, CheckpointPhase.SAVING, CheckpointPhase.RESUMING),
        new Timeout(
            "spec.options.deadline, then orphanAfter without a report of its agent",
            "The agent rolls back at the deadline; a node reboots in less than" + " orphanAfter."));
    this.finalizer = finalizer;
  }

  @Override
  public String undoes() {
    return "cancels the operation; the agent thaws the workload";
  }

  /** A workload that could not be thawed is waited for. */
  @Override
  protected Progress observeUndo(CheckpointContext context) {
    return finalizer.awaitThaw(context);
  }

  @Override
  protected boolean isCurrent(CheckpointContext context, OperationView freeze) {
    return freeze.phase() != OperationPhase.HELD && !HeadroomNegotiation.isAsked(freeze);
  }

  @Override
  protected void run(CheckpointContext context, FreezeAttempt attempt, OperationView freeze) {
    if (freeze.phase() == OperationPhase.RUNNING || freeze.phase() == OperationPhase.UNDOING) {
      transition(context, freeze);
    }
    boolean undone = freeze.phase() == OperationPhase.UNDOING || freeze.isCancelled();
    String message = undone ? "is being rolled back" : "the agent is working on it";
    if (freeze.phase() == OperationPhase.CLAIMED) {
      message = freeze.message("waits for other operations on the node");
    }
    context.updater().working(undone ? Reason.CANCELLED : Reason.IN_PROGRESS, message);
    if (freeze.workload() == WorkloadState.FROZEN) {
      context.reporter().onPod(Reason.FROZEN, message(context), freeze.name());
    }
  }

  private static void transition(CheckpointContext context, OperationView freeze) {
    String step = Objects.requireNonNullElse(freeze.status().getStep(), "");
    CheckpointPhase now = context.phase();
    CheckpointPhase next = now;
    if (RESUMING.contains(step)) {
      next = CheckpointPhase.RESUMING;
    } else if (SAVING.contains(step)) {
      next = CheckpointPhase.SAVING;
    } else if (FREEZING.contains(step) || freeze.workload() == WorkloadState.FROZEN) {
      next = CheckpointPhase.FREEZING;
    }
    // Never backwards: an undo has the same steps in reverse order.
    boolean onward =
        now == CheckpointPhase.PENDING
            || now == CheckpointPhase.READY
            || next.ordinal() > now.ordinal() && now.ordinal() < CheckpointPhase.RESUMING.ordinal();
    if (onward) {
      context.updater().transitionTo(next);
    }
  }
}
