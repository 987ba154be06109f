package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Creates the target pod, and waits until its placeholder process runs. */
final class CreateMigrationTarget extends Step<MigrationContext, MigrationPhase> {

  /** Another target may succeed. */
  private static final Set<String> OF_THE_MOMENT =
      Set.of(Reason.TARGET_LOST.value(), Reason.IMAGE_NOT_AVAILABLE.value());

  private final MigrationTargets targets;
  private final EvictionCheck evictions;
  private final MigrationReporter reporter;
  private final TargetReader reader = new TargetReader();

  CreateMigrationTarget(
      MigrationTargets targets, EvictionCheck evictions, MigrationReporter reporter) {
    super(
        "create-target",
        List.of(MigrationPhase.PENDING, MigrationPhase.TARGET_STARTING),
        new Timeout(
            "spec.options.deadline, " + MigrationTargets.ATTEMPTS + " targets",
            "The source keeps running; a target that cannot start is replaced."));
    this.targets = targets;
    this.evictions = evictions;
    this.reporter = reporter;
  }

  @Override
  protected MigrationPhase phase(MigrationContext context) {
    return context.target().isEmpty() ? MigrationPhase.PENDING : MigrationPhase.TARGET_STARTING;
  }

  @Override
  protected Progress observe(MigrationContext context) {
    if (context.isTouched()) {
      return new Progress.Done();
    }
    Check.Admitted source = context.admitted();
    ObservedPod known = context.status().getTarget();
    if (context.target().isEmpty()) {
      return known == null
          ? new Progress.Due(() -> create(context, source))
          : failed(context, MigrationFaults.targetLost(known.name()));
    }
    Pod target = context.target().get();
    if (known == null || !target.getMetadata().getUid().equals(known.uid())) {
      // A target that no status names was created before a write was lost.
      return Progress.Due.of(
          () -> context.updater().adopts(target, context.container(), List.of()));
    }
    TargetState state = reader.read(target, source.container());
    if (state instanceof TargetState.Broken broken) {
      return failed(context, broken.fault());
    }
    if (state instanceof TargetState.Coming coming) {
      return new Progress.Waiting(coming.reason(), coming.sentence());
    }
    Optional<String> away =
        context.targetAgent().isEmpty()
            ? Optional.of("agent: expected one on the node of the target, got none")
            : context.targetAgent().get().against();
    return away.<Progress>map(why -> new Progress.Waiting(Reason.WAITING_FOR_AGENT, why))
        .orElseGet(Progress.Done::new);
  }

  private Progress failed(MigrationContext context, Fault fault) {
    boolean excludesNode = Reason.IMAGE_NOT_AVAILABLE.is(fault.reason());
    return targets.retry(context, List.of(fault), OF_THE_MOMENT, excludesNode);
  }

  private Progress create(MigrationContext context, Check.Admitted source) {
    Optional<Progress> refusal = evictions.refusal(context, source.pod(), true);
    if (refusal.isPresent()) {
      return refusal.get();
    }
    TargetPods.Result result = targets.create(context, source);
    if (result instanceof TargetPods.Postponed postponed) {
      return new Progress.Waiting(postponed.reason(), postponed.message());
    }
    if (result instanceof TargetPods.Impossible impossible) {
      return new Progress.Failed(impossible.faults());
    }
    TargetPods.Created created = (TargetPods.Created) result;
    int attempt = context.attempts() + 1;
    context.updater().adopts(created.pod(), source.container(), created.otherContainers());
    reporter.normal(
        context,
        Reason.STARTING,
        "created pod " + created.pod().getMetadata().getName() + "; the source keeps running",
        "attempt " + attempt);
    return new Progress.Done();
  }

  @Override
  public String undoes() {
    return "deletes the target pod";
  }

  @Override
  protected Progress observeUndo(MigrationContext context) {
    return targets.untilGone(context);
  }
}
