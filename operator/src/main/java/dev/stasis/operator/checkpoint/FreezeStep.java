package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Optional;

/** A step during which an agent works on the freeze of the workload. */
abstract class FreezeStep extends OperationStep {

  private final CheckpointValidator validator = new CheckpointValidator();
  private final ReadyReport ready = new ReadyReport();

  protected FreezeStep(
      CheckpointOperations operations, String name, List<CheckpointPhase> phases, Timeout timeout) {
    super(operations, name, phases, timeout);
  }

  /** Returns whether an unfinished freeze is at this step. */
  protected abstract boolean isCurrent(CheckpointContext context, OperationView freeze);

  /** Does what the freeze waits for, or reports how far it is. */
  protected abstract void run(
      CheckpointContext context, FreezeAttempt attempt, OperationView freeze);

  @Override
  protected final Progress observe(CheckpointContext context) {
    return context
        .freeze()
        .filter(freeze -> !freeze.isFinal() && isCurrent(context, freeze))
        .<Progress>map(freeze -> new Progress.Due(() -> follow(context, freeze)))
        .orElseGet(Progress.Done::new);
  }

  private Progress follow(CheckpointContext context, OperationView freeze) {
    reportBeginning(context, freeze);
    return follow(context, freeze, FreezeAttempt.next(context).number() == 1);
  }

  /** The status need not have been written after the operation was created. */
  private void reportBeginning(CheckpointContext context, OperationView freeze) {
    if (context.status().getPhase() == null) {
      context.updater().transitionTo(CheckpointPhase.PENDING);
    }
    context.reportWorkloadStart();
    boolean begun = freeze.isClaimed() && freeze.phase() != OperationPhase.CLAIMED;
    if (!begun && context.conditions().find(ConditionType.SOURCE_RUNNING).isEmpty()) {
      context.updater().untouched();
    }
  }

  @Override
  protected final Progress nodeGone(CheckpointContext context, NodeAgent agent) {
    Optional<OperationView> evicted =
        context.freeze().filter(freeze -> new EvictionOutcome(context, freeze).outlivesItsNode());
    if (evicted.isPresent()) {
      CheckpointStatusUpdater updater = context.updater();
      evicted.get().artifact().ifPresent(updater::copyArtifact);
      updater.copyTimings(evicted.get(), context.created());
      context.status().setOperation(null);
      context.status().copyProgress(null);
      ready.evicted(context);
      return context.reported();
    }
    String message =
        "node %s is gone, and the workload with it%s"
            .formatted(agent.node(), context.freeze().map(OperationStep::stored).orElse(""));
    context.updater().source(ConditionValue.FALSE, Reason.NODE_GONE, message);
    return new Progress.Lost(Reason.WORKLOAD_LOST, message);
  }

  /** Reports on the pod whether it is frozen. */
  @Override
  protected final void claimed(CheckpointContext context, OperationView freeze, NodeAgent agent) {
    CheckpointStatusUpdater updater = context.updater();
    CheckpointReporter reporter = context.reporter();
    if (freeze.workload() == WorkloadState.FROZEN) {
      reporter.frozen(Reason.FROZEN, message(context));
      updater.source(ConditionValue.UNKNOWN, Reason.FROZEN, "it is frozen by a running operation");
    } else if (freeze.workload() == WorkloadState.RUNNING) {
      reporter.notFrozen(Reason.RESUMED, "the workload resumed");
    }
    if (agent.isSilent()) {
      updater.source(ConditionValue.UNKNOWN, Reason.NODE_SILENT, silence(agent));
    }
  }

  @Override
  protected final void working(CheckpointContext context, OperationView freeze) {
    if (isTooLarge(context, freeze)) {
      operations.cancel(freeze);
    } else {
      run(context, FreezeAttempt.next(context), freeze);
    }
  }

  /** Returns whether the store has no room for the artifact, whose size the agent has reported. */
  private boolean isTooLarge(CheckpointContext context, OperationView freeze) {
    CheckpointStatusUpdater updater = context.updater();
    Explanation explanation = freeze.status().getExplanation();
    Long bytes = explanation == null ? null : explanation.expectedBytes();
    ArtifactReference artifact = freeze.operation().getSpec().getArtifact();
    boolean early =
        freeze.phase() == OperationPhase.CLAIMED || freeze.phase() == OperationPhase.RUNNING;
    if (!early
        || freeze.isCancelled()
        || bytes == null
        || artifact == null
        || context.spec().getOptions().getDryRun()) {
      return false;
    }
    List<Fault> faults =
        context
            .cluster()
            .store(artifact.store())
            .map(store -> validator.room(context, store, freeze, bytes))
            .orElse(List.of());
    if (!faults.isEmpty()) {
      updater.faults(faults);
      FaultSummary summary = new FaultSummary(faults);
      updater.working(summary.reason(Reason.STORE_FULL), summary.message());
    }
    return !faults.isEmpty();
  }

  /** Returns why the pod is frozen. */
  protected static String message(CheckpointContext context) {
    return "frozen by GpuCheckpoint %s for a checkpoint with afterCheckpoint %s"
        .formatted(context.object().getMetadata().getName(), context.spec().getAfterCheckpoint());
  }
}
