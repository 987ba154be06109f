package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.TcpConnections;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.RestoreOrder;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.AgentStep;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.RestoreFailure;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Lets the agent restore the workload into the target and verify that it runs. */
final class RestoreIntoTarget extends AgentStep<RestoreContext, RestorePhase> {

  /** The agent ends its work by its own deadline, and then has to undo it. */
  static final Duration TO_UNDO = Duration.ofSeconds(30);

  /** The step in which the agent checks that the workload runs. */
  private static final String PROVING = "prove";

  private final TargetReader reader = new TargetReader();
  private final RestoreFailure failure = new RestoreFailure();
  private final Operations operations;
  private final RestoreReporter reporter;

  RestoreIntoTarget(Operations operations, RestoreReporter reporter) {
    super(
        operations,
        "restore-into-target",
        List.of(RestorePhase.RESTORING, RestorePhase.VERIFYING),
        new Timeout(
            "spec.options.deadline + " + TO_UNDO.toSeconds() + " s",
            "Counted from the start of the placeholder process. The agent ends its work by the"
                + " deadline and then undoes it, which takes seconds."));
    this.operations = operations;
    this.reporter = reporter;
  }

  @Override
  protected RestorePhase phase(RestoreContext context) {
    boolean verifies =
        context.phase() == RestorePhase.VERIFYING
            || context.operation().filter(it -> PROVING.equals(it.status().getStep())).isPresent();
    return verifies && context.operation().filter(OperationView::isClaimed).isPresent()
        ? RestorePhase.VERIFYING
        : RestorePhase.RESTORING;
  }

  @Override
  public String undoes() {
    return "cancels the operation; the agent ends what it has restored";
  }

  @Override
  protected Optional<OperationView> operation(RestoreContext context) {
    return context.operation();
  }

  @Override
  protected Progress waiting(RestoreContext context, OperationView operation) {
    return operation.isClaimed()
        ? new Progress.Waiting(Reason.IN_PROGRESS, "node " + operation.node() + " restores it")
        : new Progress.Waiting(
            Reason.WAITING_FOR_AGENT,
            "the agent of node "
                + operation.node()
                + " has not claimed the operation"
                + context.agentAway().map(why -> ": " + why).orElse(""));
  }

  /** Without its target nothing can be restored, even when an unavailable agent is back. */
  @Override
  protected Progress observeUndo(RestoreContext context) {
    Optional<OperationView> open = operation(context).filter(it -> !it.isFinal());
    if (open.isEmpty()) {
      return new Progress.Done();
    }
    GpuNodeOperation found = open.get().operation();
    if (!open.get().isCancelled()) {
      return Progress.Due.of(() -> operations.withdrawOrCancel(found));
    }
    if (context.agentAway().isEmpty()) {
      return new Progress.Waiting(Reason.IN_PROGRESS, "node " + open.get().node() + " undoes it");
    }
    return context.target().isEmpty()
        ? Progress.Due.of(() -> operations.abandon(found))
        : new Progress.Done();
  }

  @Override
  protected Optional<Progress> stopped(RestoreContext context, OperationView operation) {
    TargetState state = reader.read(context.theTarget(), container(operation));
    if (state instanceof TargetState.Broken broken
        && !agentWillReport(context, operation, broken)) {
      return Optional.of(new Progress.Failed(broken.fault()));
    }
    return state instanceof TargetState.Holding holding
            && !context.deadline(holding.since()).plus(TO_UNDO).isAfter(context.now())
        ? Optional.of(new Progress.Failed(late(context)))
        : Optional.empty();
  }

  /** A process ended while the agent worked on it: the agent has the details. */
  private static boolean agentWillReport(
      RestoreContext context, OperationView operation, TargetState.Broken broken) {
    return Reason.RESTORE_FAILED.is(broken.fault().reason())
        && operation.isClaimed()
        && context.agentAway().isEmpty();
  }

  @Override
  protected Progress succeeded(RestoreContext context, OperationView operation) {
    if (operation.status().getProof() == null) {
      return new Progress.Failed(
          Reason.RESTORE_FAILED.misfit(
              "operation " + operation.name() + " verification",
              "all processes with their state",
              "none"));
    }
    Pod target = context.theTarget();
    String container = container(operation);
    if (!hasFailed(target, container)) {
      return new Progress.Done();
    }
    Fault ended =
        Reason.RESTORE_FAILED.misfit(
            "pod " + target.getMetadata().getName() + " container " + container,
            "a workload that runs until its pod is Ready",
            "one that ended");
    return explained(context, operation, List.of(ended));
  }

  /**
   * Returns whether the workload has ended since its verification: the kubelet restarts its
   * container without the saved state. One that has completed was restored. The next step reports a
   * target that is being deleted.
   */
  private boolean hasFailed(Pod target, String container) {
    return reader.read(target, container) instanceof TargetState.Broken broken
        && Reason.RESTORE_FAILED.is(broken.fault().reason())
        && !reader.isCompleted(target, container);
  }

  @Override
  protected Progress failed(RestoreContext context, OperationView operation) {
    return explained(context, operation, faults(operation));
  }

  private Progress explained(RestoreContext context, OperationView operation, List<Fault> faults) {
    return failure.explain(
        operation, faults, context.target(), container(operation), context.now());
  }

  private static String container(OperationView operation) {
    return Objects.requireNonNull(operation.operation().getSpec().getPod()).containerName();
  }

  @Override
  protected GpuNodeOperation draft(RestoreContext context, Operations all) {
    GpuRestore restore = context.restore();
    Source.Ready source = (Source.Ready) context.source();
    Pod target = context.theTarget();
    RestoreOrder order = new RestoreOrder();
    order.setFingerprint(source.wanted().text());
    TcpConnections asTaken = source.checkpoint().getSpec().getOptions().getTcpConnections();
    order.setTcpConnections(
        Objects.requireNonNullElse(restore.getSpec().getOptions().getTcpConnections(), asTaken));
    GpuNodeOperationSpec spec =
        GpuNodeOperationSpec.of(OperationType.RESTORE, target.getSpec().getNodeName());
    spec.setPod(OperationPod.of(target.getMetadata(), source.container()));
    spec.setArtifact(source.reference(null));
    spec.setRestore(order);
    TargetState.Holding holding = (TargetState.Holding) reader.read(target, source.container());
    spec.setDeadline(
        TimeSpan.of(Duration.between(context.now(), context.deadline(holding.since()))));
    return all.draft(
        RequesterKind.RESTORE.reference(restore.getMetadata()), context.attempts(), spec);
  }

  @Override
  protected void created(RestoreContext context, GpuNodeOperation operation) {
    Pod target = context.theTarget();
    context.updater().operationCreated(operation.getMetadata().getName(), target);
    reporter.normal(
        context,
        Reason.IN_PROGRESS,
        "the holder runs; node " + target.getSpec().getNodeName() + " is restoring the workload",
        "attempt " + context.attempts());
  }

  static boolean isLate(RestoreContext context, TargetState.Holding holding) {
    Instant deadline = context.deadline(holding.since());
    return !deadline.isAfter(context.now());
  }

  static Fault late(RestoreContext context) {
    String deadline = context.restore().getSpec().getOptions().getDeadline().text();
    return Reason.DEADLINE_EXCEEDED.misfit(
        "deadline", "a verified target within " + deadline, "none in time");
  }
}
