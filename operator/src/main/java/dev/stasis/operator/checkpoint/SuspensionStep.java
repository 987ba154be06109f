package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.util.List;
import java.util.Optional;

/** A step during which the workload is in the memory of its node. */
abstract class SuspensionStep extends CheckpointStep {

  protected final CheckpointOperations operations;
  private final CheckpointFinalizer finalizer;

  protected SuspensionStep(
      CheckpointOperations operations,
      CheckpointFinalizer finalizer,
      String name,
      CheckpointPhase phase,
      Timeout timeout) {
    super(name, List.of(phase), timeout);
    this.operations = operations;
    this.finalizer = finalizer;
  }

  /** Returns whether the suspended workload is at this step. */
  protected abstract boolean isCurrent(CheckpointContext context);

  /**
   * Acts on a workload that still exists.
   *
   * @param last the freeze that suspended it
   */
  protected abstract void run(CheckpointContext context, FreezeAttempt last);

  @Override
  protected final Progress observe(CheckpointContext context) {
    return isCurrent(context) ? new Progress.Due(() -> run(context)) : new Progress.Done();
  }

  private Progress run(CheckpointContext context) {
    FreezeAttempt last = FreezeAttempt.last(context);
    Optional<String> loss = loss(context, last);
    if (loss.isPresent()) {
      lose(context, loss.get());
    } else {
      run(context, last);
    }
    return context.reported();
  }

  @Override
  protected final Progress observeUndo(CheckpointContext context) {
    return finalizer.resume(context);
  }

  /** Returns the operation that resumes the workload; empty before it is created. */
  protected static Optional<OperationView> resume(CheckpointContext context, FreezeAttempt last) {
    return context.operation(OperationType.RESUME, last.number());
  }

  protected final void createResume(CheckpointContext context, FreezeAttempt last) {
    operations.follow(context, OperationType.RESUME, last);
    context.poll();
  }

  /** Returns why the memory of the workload does not exist any more; empty if it does. */
  private static Optional<String> loss(CheckpointContext context, FreezeAttempt last) {
    String node = context.node().orElse("");
    if (context.agent(node).nodeGone()) {
      return Optional.of("node " + node + " is gone, and the suspended workload with it");
    }
    if (context.pod().isEmpty()) {
      return Optional.of("the pod was deleted while its workload was suspended");
    }
    Optional<GpuNodeOperationStatus> freeze = last.operation(context).map(OperationView::status);
    Optional<String> frozen = freeze.map(GpuNodeOperationStatus::getContainerId);
    Optional<String> container = context.container().map(ContainerStatus::getContainerID);
    if (frozen.isPresent() && container.filter(it -> !it.endsWith(frozen.get())).isPresent()) {
      return Optional.of("its container restarted while the workload was suspended");
    }
    Optional<String> then = freeze.map(it -> it.getClaimedBy()).map(Claim::bootId);
    Optional<String> now =
        context
            .cluster()
            .gpuNode(node)
            .map(GpuNode::getStatus)
            .map(GpuNodeStatus::getHost)
            .map(NodeHost::getBootId);
    if (now.isPresent() && then.isPresent() && !now.equals(then)) {
      return Optional.of("node " + node + " restarted while the workload was suspended");
    }
    return Optional.empty();
  }

  /** Reports that the workload is lost. Its artifact, if it has one, is still valid. */
  protected static void lose(CheckpointContext context, String message) {
    CheckpointReporter reporter = context.reporter();
    CheckpointStatusUpdater updater = context.updater();
    updater.also(ConditionType.SUSPENDED, ConditionValue.FALSE, Reason.WORKLOAD_LOST, message);
    updater.source(ConditionValue.FALSE, Reason.WORKLOAD_LOST, message);
    context.status().setSuspendedTime(null);
    if (context.status().getArtifact() != null) {
      updater.transitionTo(CheckpointPhase.READY);
      updater.done(updater.artifact());
      reporter.warning(Reason.WORKLOAD_LOST, message, "lost");
    } else {
      reporter.fail(Reason.WORKLOAD_LOST, message);
    }
    reporter.notFrozen(Reason.WORKLOAD_LOST, message);
  }
}
