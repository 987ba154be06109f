package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Deletes the artifacts on both nodes. The last step, even of a migration that is rolled back. If
 * the workload has ended in its target since the switch-over, or the target is gone, they have its
 * only saved state, and stay until the migration is deleted.
 */
final class DeleteArtifacts extends Step<MigrationContext, MigrationPhase> {

  private static final TargetReader TARGETS = new TargetReader();

  private final MigrationOperations operations;

  DeleteArtifacts(MigrationOperations operations) {
    super(
        "delete-artifacts",
        List.of(MigrationPhase.SWITCHING_OVER),
        Timeout.none(
            "An unavailable agent deletes artifacts without an object when it is available again."));
    this.operations = operations;
  }

  /** Returns why the artifacts of a migration stay; empty if they are deleted. */
  static Optional<Fault> keptFor(MigrationContext context) {
    if (context.decision().filter(it -> it == Decision.SWITCH_OVER).isEmpty()) {
      return Optional.empty();
    }
    if (context.target().isEmpty()) {
      ObservedPod known = Objects.requireNonNull(context.status().getTarget(), "it was verified");
      return Optional.of(MigrationFaults.targetLost(known.name()));
    }
    TargetState state = TARGETS.read(context.target().get(), context.container());
    return state instanceof TargetState.Broken broken
        ? Optional.of(broken.fault())
        : Optional.empty();
  }

  @Override
  protected Progress observe(MigrationContext context) {
    if (keptFor(context).isPresent()) {
      return new Progress.Done();
    }
    Progress ofSource = delete(context, Work.OF_SOURCE, context.artifact(), context.sourceAgent());
    return !(ofSource instanceof Progress.Done) || context.isShared()
        ? ofSource
        : delete(context, Work.OF_TARGET, context.arrived(), context.targetAgent());
  }

  private Progress delete(
      MigrationContext context,
      int number,
      Optional<ArtifactStatus> artifact,
      Optional<NodeAgent> agent) {
    Optional<OperationView> found = context.work().of(OperationType.DELETE_ARTIFACT, number);
    if (artifact.isEmpty()
        || found.map(OperationView::isFinal).orElse(false)
        || agent.map(NodeAgent::isAway).orElse(true)) {
      return new Progress.Done();
    }
    String node = agent.orElseThrow().node();
    return found.isPresent()
        ? new Progress.Waiting(Reason.IN_PROGRESS, "the artifact on node " + node + " is deleted")
        : Progress.Due.of(
            () ->
                operations.create(
                    context, number, operations.orders().delete(context, artifact.get(), node)));
  }
}
