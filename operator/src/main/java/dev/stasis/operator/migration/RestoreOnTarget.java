package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.RestoreFailure;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Lets the agent of the target restore the workload and verify that it runs. */
final class RestoreOnTarget extends MigrationAgentStep {

  /** The step in which the agent checks that the workload runs. */
  private static final String PROVING = "prove";

  private final MigrationReporter reporter;
  private final TargetReader reader = new TargetReader();
  private final RestoreFailure failure = new RestoreFailure();

  RestoreOnTarget(MigrationOperations operations, MigrationReporter reporter) {
    super(
        operations,
        "restore-on-target",
        List.of(MigrationPhase.RESTORING, MigrationPhase.VERIFYING),
        new Timeout("spec.options.deadline", "The source is frozen and can still be thawed."),
        MigrationContext::targetAgent,
        "restores it");
    this.reporter = reporter;
  }

  @Override
  protected MigrationPhase phase(MigrationContext context) {
    boolean proves =
        context.phase() == MigrationPhase.VERIFYING
            || context.restore().filter(it -> PROVING.equals(it.status().getStep())).isPresent();
    return proves ? MigrationPhase.VERIFYING : MigrationPhase.RESTORING;
  }

  @Override
  protected Progress observe(MigrationContext context) {
    return context.isDecided() ? new Progress.Done() : super.observe(context);
  }

  @Override
  protected Optional<OperationView> operation(MigrationContext context) {
    return context.restore();
  }

  @Override
  protected GpuNodeOperation draft(MigrationContext context, Operations all) {
    GpuNodeOperationSpec spec =
        operations
            .orders()
            .restore(context, context.arrived().orElseThrow(), context.target().orElseThrow());
    return operations.draft(context, context.attempts(), spec);
  }

  @Override
  protected void created(MigrationContext context, GpuNodeOperation operation) {
    String sentence =
        "the agent of node " + operation.getSpec().getNodeName() + " was requested to restore it";
    context
        .updater()
        .ordered(MigrationPhase.RESTORING, operation.getMetadata().getName(), false, sentence);
    reporter.normal(context, Reason.IN_PROGRESS, sentence, "restore");
    reporter.mark(context);
  }

  /** A process ended while the agent worked on it: the agent has the details. */
  @Override
  protected Optional<Progress> stopped(MigrationContext context, OperationView operation) {
    TargetState state = reader.read(context.target().orElseThrow(), context.container());
    return state instanceof TargetState.Broken broken
            && !(operation.isClaimed()
                && agentAway(context).isEmpty()
                && Reason.RESTORE_FAILED.is(broken.fault().reason()))
        ? Optional.of(new Progress.Failed(broken.fault()))
        : Optional.empty();
  }

  @Override
  protected Progress succeeded(MigrationContext context, OperationView operation) {
    Pod target = context.target().orElseThrow();
    if (operation.status().getProof() == null) {
      return new Progress.Failed(faults(operation));
    }
    if (target.getMetadata().getDeletionTimestamp() != null) {
      return new Progress.Failed(MigrationFaults.targetLost(target.getMetadata().getName()));
    }
    // The kubelet restarts a container that ended after its proof, without the saved state.
    return reader.read(target, context.container()) instanceof TargetState.Broken broken
            && context.sourceLost().isEmpty()
        ? new Progress.Failed(broken.fault())
        : new Progress.Done();
  }

  @Override
  protected Progress failed(MigrationContext context, OperationView operation) {
    return failure.explain(
        operation, faults(operation), context.target(), context.container(), context.now());
  }

  @Override
  public String undoes() {
    return "cancels the operation; the agent ends what it has restored";
  }

  @Override
  protected Progress observeUndo(MigrationContext context) {
    return operations.cancelAll(context, Set.of(OperationType.RESTORE));
  }
}
