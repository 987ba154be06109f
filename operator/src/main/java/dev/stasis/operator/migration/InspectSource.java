package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Lets the agent inspect the source; refuses a migration that is not possible before anything is
 * changed.
 */
final class InspectSource extends MigrationAgentStep {

  InspectSource(MigrationOperations operations) {
    super(
        operations,
        "inspect-source",
        List.of(MigrationPhase.PENDING),
        new Timeout("spec.options.deadline", "Nothing is changed meanwhile."),
        MigrationContext::sourceAgent,
        "inspects the pod");
  }

  /** Reasons against the migration are also detected while the target starts. */
  @Override
  protected MigrationPhase phase(MigrationContext context) {
    return context.phase();
  }

  @Override
  protected Progress observe(MigrationContext context) {
    if (context.isTouched()) {
      return new Progress.Done();
    }
    if (context.check() instanceof Check.Refused refused) {
      return new Progress.Failed(refused.faults());
    }
    if (context.check() instanceof Check.Wait wait) {
      return new Progress.Waiting(wait.reason(), wait.sentence());
    }
    // An operator that died after it created the operation has not written the source.
    return operation(context).isPresent() && context.status().getSource() == null
        ? Progress.Due.of(() -> inspects(context))
        : super.observe(context);
  }

  @Override
  protected Optional<OperationView> operation(MigrationContext context) {
    return context.work().look();
  }

  @Override
  protected GpuNodeOperation draft(MigrationContext context, Operations all) {
    Check.Admitted source = context.admitted();
    return operations.draft(context, Work.LOOK, operations.orders().look(context, source));
  }

  @Override
  protected void created(MigrationContext context, GpuNodeOperation operation) {
    inspects(context);
  }

  private static void inspects(MigrationContext context) {
    Check.Admitted source = context.admitted();
    context.updater().looks(source.pod(), source.container());
  }

  @Override
  protected Progress waiting(MigrationContext context, OperationView operation) {
    return new Progress.Waiting(
        Reason.WAITING_FOR_AGENT,
        agentAway(context)
            .orElse("the agent of node " + operation.node() + " is inspecting the pod"));
  }

  @Override
  protected Progress succeeded(MigrationContext context, OperationView operation) {
    List<Fault> found =
        Optional.ofNullable(operation.status().getExplanation())
            .map(Explanation::faults)
            .orElse(List.of());
    List<Fault> all =
        Stream.concat(operation.faults().stream(), found.stream()).distinct().toList();
    return all.isEmpty() ? new Progress.Done() : new Progress.Failed(all);
  }
}
