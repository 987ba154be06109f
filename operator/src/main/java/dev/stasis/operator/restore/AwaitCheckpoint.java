package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;

/** Waits until the GpuCheckpoint is Ready; refuses one that can never be restored. */
final class AwaitCheckpoint extends Step<RestoreContext, RestorePhase> {

  AwaitCheckpoint() {
    super(
        "await-checkpoint",
        List.of(RestorePhase.PENDING),
        Timeout.none(
            "A checkpoint may become Ready at any time; nothing is reserved in the meantime."));
  }

  @Override
  protected Progress observe(RestoreContext context) {
    // A target needs the artifact, and the checkpoint's later state no longer matters.
    if (context.hasTarget() || context.source() instanceof Source.Ready) {
      return new Progress.Done();
    }
    return context.source() instanceof Source.NotYet notYet
        ? new Progress.Waiting(notYet.reason(), notYet.sentence())
        : new Progress.Failed(((Source.Never) context.source()).fault());
  }
}
