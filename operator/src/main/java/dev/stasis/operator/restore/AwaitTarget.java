package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;

/** Waits until the target has a node and an image, and its placeholder process runs. */
final class AwaitTarget extends Step<RestoreContext, RestorePhase> {

  private final TargetReader reader = new TargetReader();

  AwaitTarget() {
    super(
        "await-target",
        List.of(RestorePhase.STARTING),
        Timeout.none("Scheduler and kubelet retry for as long as the pod exists."));
  }

  @Override
  protected Progress observe(RestoreContext context) {
    if (context.operation().isPresent()) {
      return new Progress.Done();
    }
    if (!(context.source() instanceof Source.Ready source)) {
      // An artifact in use is not deleted; if it is lost anyway, that is reported here.
      return new Progress.Failed(noSource(context.source()));
    }
    TargetState state = reader.read(context.theTarget(), source.container());
    if (state instanceof TargetState.Broken broken) {
      return new Progress.Failed(broken.fault());
    }
    if (state instanceof TargetState.Coming coming) {
      return new Progress.Waiting(coming.reason(), coming.sentence());
    }
    return RestoreIntoTarget.isLate(context, (TargetState.Holding) state)
        ? new Progress.Failed(RestoreIntoTarget.late(context))
        : new Progress.Done();
  }

  private static Fault noSource(Source source) {
    return source instanceof Source.NotYet notYet
        ? new Fault(
            Reason.ARTIFACT_LOST.value(),
            "checkpointRef",
            null,
            null,
            null,
            null,
            notYet.sentence())
        : ((Source.Never) source).fault();
  }
}
