package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;

/** Creates the target pod, or claims the one that a controller created in the source's place. */
final class CreateTarget extends Step<RestoreContext, RestorePhase> {

  private final RestoreTargets targets;
  private final RestoreReporter reporter;

  CreateTarget(RestoreTargets targets, RestoreReporter reporter) {
    super(
        "create-target",
        List.of(RestorePhase.PENDING),
        Timeout.none("A quota may be raised, or a controller may create a pod, at any time."));
    this.targets = targets;
    this.reporter = reporter;
  }

  @Override
  protected Progress observe(RestoreContext context) {
    ObservedPod known = context.status().getPod();
    if (context.target().isEmpty()) {
      return known == null
          ? new Progress.Due(() -> create(context))
          : new Progress.Failed(lost(known));
    }
    // A target that no status names was created before a write was lost.
    return known != null && context.theTarget().getMetadata().getUid().equals(known.uid())
        ? new Progress.Done()
        : Progress.Due.of(() -> created(context, context.theTarget(), List.of()));
  }

  private Progress create(RestoreContext context) {
    TargetPods.Result result = targets.create(context);
    if (result instanceof TargetPods.Postponed postponed) {
      return new Progress.Waiting(postponed.reason(), postponed.message());
    }
    if (result instanceof TargetPods.Impossible impossible) {
      return new Progress.Failed(impossible.faults());
    }
    TargetPods.Created created = (TargetPods.Created) result;
    created(context, created.pod(), created.otherContainers());
    String notes = created.notes().isEmpty() ? "" : "; " + String.join(", ", created.notes());
    reporter.normal(
        context,
        Reason.STARTING,
        "made pod " + created.pod().getMetadata().getName() + notes,
        "attempt " + context.attempts());
    return new Progress.Done();
  }

  private static void created(RestoreContext context, Pod target, List<String> others) {
    context.updater().targetCreated(target, context.container(), others);
  }

  @Override
  public String undoes() {
    return "deletes the target pod";
  }

  @Override
  protected Progress observeUndo(RestoreContext context) {
    if (context.target().isEmpty()) {
      return new Progress.Done();
    }
    Pod target = context.theTarget();
    return target.getMetadata().getDeletionTimestamp() == null
        ? Progress.Due.of(() -> targets.remove(target))
        : new Progress.Waiting(
            Reason.IN_PROGRESS, "pod " + target.getMetadata().getName() + " is being removed");
  }

  private static Fault lost(ObservedPod pod) {
    return Reason.TARGET_LOST.misfit(
        "pod " + pod.name(), "a pod that exists until the" + " verification", "none");
  }
}
