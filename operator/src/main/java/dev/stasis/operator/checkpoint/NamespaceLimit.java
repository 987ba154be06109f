package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.Reason;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Limits the unfinished GpuCheckpoints of a namespace; younger ones wait. */
final class NamespaceLimit {

  private static final Set<CheckpointPhase> UNFINISHED =
      EnumSet.of(
          CheckpointPhase.PENDING,
          CheckpointPhase.FREEZING,
          CheckpointPhase.SAVING,
          CheckpointPhase.RESUMING,
          CheckpointPhase.IMPORTING);

  private static final Comparator<GpuCheckpoint> OLDER_FIRST =
      Comparator.comparing(
              (GpuCheckpoint it) ->
                  Objects.requireNonNullElse(it.getMetadata().getCreationTimestamp(), ""))
          .thenComparing(it -> it.getMetadata().getUid());

  /** Returns why it must wait; empty if it need not. */
  Optional<CheckpointValidator.Wait> wait(CheckpointContext context) {
    int most = context.config().checkpointsPerNamespace();
    if (context.suspensions() > 0) {
      // It is time-sliced, and was admitted before.
      return Optional.empty();
    }
    long before =
        context.cluster().checkpoints(context.namespace()).stream()
            .filter(it -> UNFINISHED.contains(CurrentPhase.of(it)))
            .filter(it -> OLDER_FIRST.compare(it, context.object()) < 0)
            .limit(most)
            .count();
    return before < most
        ? Optional.empty()
        : Optional.of(
            new CheckpointValidator.Wait(
                Reason.TOO_MANY_CHECKPOINTS,
                "namespace %s: expected fewer than %d older GpuCheckpoints that are not finished, got %d or more"
                    .formatted(context.namespace(), most, most)));
  }
}
