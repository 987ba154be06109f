package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Optional;

/** Waits until a node matches. The scheduler chooses among them. */
final class AwaitNode extends Step<RestoreContext, RestorePhase> {

  AwaitNode() {
    super(
        "await-node",
        List.of(RestorePhase.PENDING),
        Timeout.none(
            "A node may join or become free at any time; nothing is reserved in the meantime."));
  }

  @Override
  protected Progress observe(RestoreContext context) {
    if (context.hasTarget()) {
      return new Progress.Done();
    }
    NodeVerdicts places = context.places().orElseThrow();
    String asked =
        Optional.ofNullable(context.restore().getSpec().getTarget())
            .map(Target::nodeName)
            .orElse(null);
    return places.fit() > 0
        ? new Progress.Done()
        : new Progress.Waiting(Reason.NO_NODE_FITS, places.whyNone(asked));
  }
}
