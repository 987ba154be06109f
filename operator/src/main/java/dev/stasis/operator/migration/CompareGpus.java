package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Lets the agent of the target compare its GPUs with those of the source: a label cannot promise
 * which GPUs of a node a pod gets.
 */
final class CompareGpus extends MigrationAgentStep {

  /** Reported by the agent of the target: it concerns its node, so another one may succeed. */
  private static final Set<String> OF_THE_NODE =
      Set.of(Reason.INCOMPATIBLE.value(), Reason.NO_GPU.value(), "GpuQuarantined");

  private final MigrationTargets targets;

  CompareGpus(MigrationOperations operations, MigrationTargets targets) {
    super(
        operations,
        "compare-gpus",
        List.of(MigrationPhase.TARGET_STARTING),
        new Timeout(
            "spec.options.deadline", "The source keeps running; the comparison takes seconds."),
        MigrationContext::targetAgent,
        "compares the GPUs");
    this.targets = targets;
  }

  @Override
  protected Progress observe(MigrationContext context) {
    if (context.isTouched()) {
      return new Progress.Done();
    }
    Progress compared = super.observe(context);
    return compared instanceof Progress.Failed failed
        ? targets.retry(context, failed.faults(), OF_THE_NODE, true)
        : compared;
  }

  @Override
  protected Optional<OperationView> operation(MigrationContext context) {
    return context.fit();
  }

  @Override
  protected GpuNodeOperation draft(MigrationContext context, Operations all) {
    int number = Work.FIT + Math.max(1, context.attempts());
    Pod target = context.target().orElseThrow();
    return operations.draft(context, number, operations.orders().fit(context, target));
  }

  @Override
  protected Progress waiting(MigrationContext context, OperationView operation) {
    return new Progress.Waiting(
        Reason.WAITING_FOR_AGENT,
        "the agent of node "
            + operation.node()
            + " compares the GPUs of the target with those of the source");
  }
}
