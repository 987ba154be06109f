package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.resize.HeadroomNegotiation;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Optional;

/** Freezes the source, and keeps it frozen until it is decided which copy survives. */
final class FreezeSource extends MigrationAgentStep {

  private final EvictionCheck evictions;
  private final MigrationHeadroom headroom;
  private final MigrationReporter reporter;
  private final MigrationTargets targets;
  private final FrozenSource frozen;
  private final TargetReader reader = new TargetReader();

  FreezeSource(
      MigrationOperations operations,
      MigrationTargets targets,
      EvictionCheck evictions,
      MigrationHeadroom headroom,
      MigrationReporter reporter) {
    super(
        operations,
        "freeze-source",
        List.of(MigrationPhase.FREEZING),
        new Timeout(
            "spec.options.deadline, and before a probe of the pod fails",
            "The agent locks within spec.options.lockTimeout and ends its work by the deadline."
                + " A probe or"
                + " a deadline of the pod would end the frozen workload."),
        MigrationContext::sourceAgent,
        "freezes the pod");
    this.evictions = evictions;
    this.headroom = headroom;
    this.reporter = reporter;
    this.targets = targets;
    this.frozen = new FrozenSource(operations);
  }

  /** A kubelet that raises a memory limit is polled frequently, because the target waits. */
  @Override
  protected boolean isUrgent() {
    return true;
  }

  @Override
  protected Progress observe(MigrationContext context) {
    if (context.isDecided()) {
      return new Progress.Done();
    }
    Optional<OperationView> freeze = context.work().freeze();
    if (freeze.isEmpty()) {
      Check.Admitted source = context.admitted();
      return new Progress.Due(() -> freeze(context, source));
    }
    if (freeze.get().isFinal() && !context.isHeld()) {
      return new Progress.Failed(faults(freeze.get()));
    }
    if (context.target().isEmpty()) {
      ObservedPod known = context.status().getTarget();
      return new Progress.Failed(
          MigrationFaults.targetLost(known == null ? "of the target" : known.name()));
    }
    if (context.isHeld() && context.restore().isPresent()) {
      return new Progress.Done();
    }
    TargetState state = reader.read(context.target().get(), context.container());
    if (state instanceof TargetState.Broken broken) {
      return new Progress.Failed(broken.fault());
    }
    return context.isHeld() ? new Progress.Done() : freezing(context, freeze.get());
  }

  private Progress freeze(MigrationContext context, Check.Admitted source) {
    Optional<Progress> refusal = evictions.refusal(context, source.pod(), false);
    if (refusal.isPresent()) {
      return refusal.get();
    }
    return ((Progress.Due) super.observe(context)).run();
  }

  private Progress freezing(MigrationContext context, OperationView freeze) {
    if (HeadroomNegotiation.isAsked(freeze) && !freeze.isCancelled()) {
      return new Progress.Due(() -> headroom.answer(context, freeze));
    }
    // It never answers again, and its part of the artifact is lost with it.
    if (context.sourceAgent().map(NodeAgent::nodeGone).orElse(false)) {
      return new Progress.Failed(
          Reason.SOURCE_LOST.misfit(
              "node of the source",
              "a node of the cluster until the artifact is complete",
              "node " + freeze.node() + " left the cluster"));
    }
    return waiting(context, freeze);
  }

  @Override
  protected Optional<OperationView> operation(MigrationContext context) {
    return context.work().freeze();
  }

  @Override
  protected GpuNodeOperation draft(MigrationContext context, Operations all) {
    Check.Admitted source = context.admitted();
    return operations.draft(context, Work.FREEZE, operations.orders().freeze(context, source));
  }

  @Override
  protected void created(MigrationContext context, GpuNodeOperation operation) {
    String sentence =
        "the agent of node "
            + operation.getSpec().getNodeName()
            + " was requested to freeze the pod";
    context
        .updater()
        .ordered(MigrationPhase.FREEZING, operation.getMetadata().getName(), true, sentence);
    reporter.normal(context, Reason.IN_PROGRESS, "the target is waiting; " + sentence, "freeze");
    reporter.mark(context);
  }

  @Override
  public String undoes() {
    return "deletes the target, waits until it is gone if the workload may run in it, then thaws"
        + " the source";
  }

  @Override
  protected Progress observeUndo(MigrationContext context) {
    if (context.work().freeze().isEmpty()) {
      return new Progress.Done();
    }
    Progress target = targets.untilNothingRuns(context);
    return target instanceof Progress.Done
        ? frozen.thaw(context, context.work().freeze().get())
        : target;
  }
}
