package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.resize.HeadroomNegotiation;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Node;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Raises the memory limit of the pod, if the agent has reported that it has no room for the device
 * memory. Without room the operation is canceled, and fails with the reason. Nothing is frozen
 * meanwhile.
 */
final class RaiseMemoryLimit extends FreezeStep {

  private final PodWrites pods;

  RaiseMemoryLimit(CheckpointOperations operations, PodWrites pods) {
    super(
        operations,
        "raise-memory-limit",
        List.of(CheckpointPhase.PENDING),
        new Timeout("spec.options.deadline", "Nothing is frozen meanwhile."));
    this.pods = pods;
  }

  /** The finalizer lowers it, beside the deletion of the artifact. */
  @Override
  public String undoes() {
    return "lowers the limit again";
  }

  @Override
  protected boolean isCurrent(CheckpointContext context, OperationView freeze) {
    return HeadroomNegotiation.isAsked(freeze);
  }

  @Override
  protected void run(CheckpointContext context, FreezeAttempt attempt, OperationView freeze) {
    context.poll();
    Optional<Node> node = context.cluster().node(context.agent(freeze).node());
    List<Fault> faults = Objects.requireNonNullElse(context.status().getFaults(), List.of());
    CheckpointStatusUpdater updater = context.updater();
    if (freeze.isCancelled() && !context.isCancelled() && !faults.isEmpty()) {
      updater.working(Reason.NO_ROOM, new FaultSummary(faults).message());
      return;
    }
    if (freeze.isCancelled() || context.pod().isEmpty() || node.isEmpty()) {
      updater.working(Reason.CANCELLED, "is being rolled back");
      return;
    }
    HeadroomNegotiation.Result result =
        new HeadroomNegotiation(context.cluster(), pods)
            .answer(
                freeze,
                context.pod().get(),
                node.get(),
                context.spec().getOptions().getMemoryLimitPolicy());
    if (result instanceof HeadroomNegotiation.Refused refused) {
      updater.faults(refused.faults());
      updater.working(Reason.NO_ROOM, new FaultSummary(refused.faults()).message());
      operations.cancel(freeze);
    } else if (result instanceof HeadroomNegotiation.Raised raised) {
      updater.limitRaised(raised.room().originalLimit());
      updater.working(Reason.MAKING_ROOM, raised.message());
      context.reporter().normal(Reason.MAKING_ROOM, raised.message(), freeze.name());
    } else if (result instanceof HeadroomNegotiation.Waiting waiting) {
      updater.working(Reason.MAKING_ROOM, waiting.message());
    }
  }
}
