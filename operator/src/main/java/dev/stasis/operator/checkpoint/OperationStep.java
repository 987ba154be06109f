package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import java.time.Instant;
import java.util.List;
import java.util.Objects;

/** A step during which an agent executes an operation. Follows it until it is finished. */
abstract class OperationStep extends CheckpointStep {

  protected final CheckpointOperations operations;

  protected OperationStep(
      CheckpointOperations operations, String name, List<CheckpointPhase> phases, Timeout timeout) {
    super(name, phases, timeout);
    this.operations = operations;
  }

  /** Returns what follows when the node of the agent does not exist any more. */
  protected abstract Progress nodeGone(CheckpointContext context, NodeAgent agent);

  /** Reports what the operation does to the workload, before the agent is judged. */
  protected void claimed(CheckpointContext context, OperationView operation, NodeAgent agent) {}

  /** The agent works on the operation. */
  protected abstract void working(CheckpointContext context, OperationView operation);

  /**
   * Follows an operation that is not finished.
   *
   * @param ownDeadline whether the deadline of the object is that of the operation
   */
  protected final Progress follow(
      CheckpointContext context, OperationView operation, boolean ownDeadline) {
    context.updater().copyFrom(operation);
    NodeAgent agent = context.agent(operation);
    if (agent.nodeGone()) {
      return nodeGone(context, agent);
    }
    if (context.isCancelled()
        && !operation.isCancelled()
        && operation.phase() != OperationPhase.HELD) {
      operations.cancel(operation);
    }
    if (!operation.isClaimed()) {
      unclaimed(context, operation, agent, ownDeadline && context.isLate());
      return context.reported();
    }
    claimed(context, operation, agent);
    if (agent.isSilent()) {
      silent(context, operation, agent);
    } else {
      context.requeueAt(agent.silentAt());
      working(context, operation);
    }
    return context.reported();
  }

  private void unclaimed(
      CheckpointContext context, OperationView operation, NodeAgent agent, boolean late) {
    if (late || (context.isCancelled() && agent.isSilent())) {
      // Deleted only if it is still unclaimed. Then nothing was touched, which is reported next.
      operations.withdraw(operation);
      context.requeueAfter(context.config().progressEvery());
      return;
    }
    context
        .updater()
        .working(
            agent.isSilent() ? Reason.NODE_SILENT : Reason.WAITING_FOR_AGENT,
            agent.against().orElse("requested from the agent of node " + agent.node()));
    if (agent.isSilent()) {
      context.poll();
    } else {
      context.requeueAt(agent.silentAt());
    }
    context.requeueAtDeadline();
  }

  private static void silent(CheckpointContext context, OperationView operation, NodeAgent agent) {
    CheckpointReporter reporter = context.reporter();
    String message = silence(agent);
    Instant end = deadline(operation);
    if (agent.isGivenUp(end, context.config().orphanAfter(), context.now())) {
      reporter.fail(Reason.NODE_SILENT, message + stored(operation));
      return;
    }
    context.updater().working(Reason.NODE_SILENT, message);
    reporter.warning(Reason.NODE_SILENT, message, "silent/" + operation.name());
    context.poll();
  }

  /** Returns why the agent is not relied on. */
  protected static String silence(NodeAgent agent) {
    return agent.against().orElse("agent of node " + agent.node() + " is silent");
  }

  /**
   * Returns where the artifact of a held workload is, as the end of a sentence: it is complete, and
   * the status need not name it before the agent answers. Empty if there is none.
   */
  protected static String stored(OperationView operation) {
    return operation
        .artifact()
        .filter(artifact -> operation.phase() == OperationPhase.HELD)
        .map(
            artifact ->
                "; its artifact is complete: %s in store %s"
                    .formatted(artifact.getLocation(), artifact.getStore()))
        .orElse("");
  }

  /** Returns when the agent ends a claimed operation. */
  protected static Instant deadline(OperationView operation) {
    return Objects.requireNonNull(operation.status().getClaimedBy(), "it is claimed")
        .time()
        .plus(operation.operation().getSpec().getDeadline().duration());
  }
}
