package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;

/** Waits until a node matches and the limits allow one more migration. */
final class AwaitPlace extends Step<MigrationContext, MigrationPhase> {

  AwaitPlace() {
    super(
        "await-place",
        List.of(MigrationPhase.PENDING),
        new Timeout(
            "spec.options.deadline",
            "A node may join or become free; nothing is reserved in the meantime."));
  }

  @Override
  protected Progress observe(MigrationContext context) {
    // A lost target is replaced by another one, which needs its own place.
    if (context.isTouched()
        || context.target().isPresent()
        || context.status().getTarget() != null) {
      return new Progress.Done();
    }
    if (context.turn().isPresent()) {
      return new Progress.Waiting(Reason.TOO_MANY_MIGRATIONS, context.turn().get());
    }
    if (context.places().isEmpty()) {
      return new Progress.Failed(
          Reason.PREFLIGHT_REFUSED.misfit("hardware of the pod", "a report of its agent", "none"));
    }
    Target asked = context.migration().getSpec().getTarget();
    return context.places().get().fit() > 0
        ? new Progress.Done()
        : new Progress.Waiting(
            Reason.NO_NODE_FITS,
            context.places().get().whyNone(asked == null ? null : asked.nodeName()));
  }
}
