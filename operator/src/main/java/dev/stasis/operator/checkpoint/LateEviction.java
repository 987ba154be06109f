package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import java.util.Optional;

/**
 * Follows an eviction that has failed, usually because its agent was silent, while its pod is being
 * removed nevertheless. Once the workload exists only in the artifact, the object stays failed, but
 * a GpuRestore may use the artifact.
 */
final class LateEviction {

  private final CheckpointOperations operations;

  LateEviction(CheckpointOperations operations) {
    this.operations = operations;
  }

  /** Returns whether it has handled the operation. */
  boolean handles(CheckpointContext context, OperationView operation) {
    if (!context.hasFailed()) {
      return false;
    }
    return switch (operation.type()) {
      case CHECKPOINT -> operation.isFinal() ? ended(context, operation) : held(context, operation);
      case END -> end(context, operation);
      default -> false;
    };
  }

  /** The agent has reported the end, perhaps long after the request failed. */
  private boolean ended(CheckpointContext context, OperationView freeze) {
    EvictionOutcome outcome = new EvictionOutcome(context, freeze);
    if (!outcome.isOnlyCopy()) {
      return false;
    }
    if (outcome.isEnding()) {
      context.poll();
    } else if (isReported(context)) {
      operations.release(freeze);
    } else {
      report(
          context,
          freeze,
          Reason.WORKLOAD_LOST,
          "its pod was removed after the artifact was stored");
    }
    return true;
  }

  /** Never thawed, because its pod is being deleted. A silent agent ends it when it is back. */
  private boolean held(CheckpointContext context, OperationView freeze) {
    if (freeze.phase() != OperationPhase.HELD || !context.isPodLeaving()) {
      return false;
    }
    NodeAgent agent = context.agent(freeze);
    if (agent.nodeGone()) {
      if (!new EvictionOutcome(context, freeze).outlivesItsNode()) {
        return false;
      }
      if (isReported(context)) {
        operations.abandon(freeze);
      } else {
        report(
            context,
            freeze,
            Reason.NODE_GONE,
            "node " + agent.node() + " is gone; its pod was removed after the artifact was stored");
      }
      return true;
    }
    Optional<OperationView> end = context.operation(OperationType.END, freeze.number());
    if (end.isEmpty()) {
      operations.follow(
          context, OperationType.END, new FreezeAttempt(freeze.type(), freeze.number(), true));
    } else if (end.get().isFinal() && !end.get().succeeded()) {
      operations.retry(context, end.get(), freeze.entered());
    }
    return true;
  }

  /** It is kept until the freeze has ended: a restarted agent derives that end from it. */
  private boolean end(CheckpointContext context, OperationView end) {
    boolean needed = context.freezes().anyMatch(freeze -> !freeze.isFinal());
    if (!needed && end.isFinal()) {
      operations.release(end);
      return true;
    }
    return needed && !context.agent(end).nodeGone();
  }

  /** The operation is kept until then: it alone names the artifact if the write fails. */
  private static boolean isReported(CheckpointContext context) {
    return context.conditions().isTrue(ConditionType.READY);
  }

  private static void report(
      CheckpointContext context, OperationView freeze, Reason reason, String message) {
    CheckpointStatusUpdater updater = context.updater();
    CheckpointReporter reporter = context.reporter();
    updater.copyFrom(freeze);
    updater.copyTimings(freeze, context.created());
    freeze.artifact().ifPresent(updater::copyArtifact);
    context.status().setOperation(null);
    context.status().copyProgress(null);
    context.restorable().write(context);
    updater.source(ConditionValue.FALSE, reason, message);
    reporter.notFrozen(reason, message);
    String artifact = updater.artifact();
    updater.also(ConditionType.READY, ConditionValue.TRUE, Reason.ARTIFACT_VERIFIED, artifact);
    reporter.normal(
        Reason.ARTIFACT_VERIFIED,
        artifact + ": it can be restored, although the checkpoint failed",
        "late");
    context.requeueAfter(context.config().progressEvery());
  }
}
