package dev.stasis.operator.migration;

import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Checks with a dry run whether the source may be evicted: before anything is created, and again
 * before the source is frozen. A refusal refuses the migration, because freezing a pod that has to
 * stay gains nothing.
 */
final class EvictionCheck {

  /**
   * How long after the creation of the migration a refusal is waited for: a budget created at the
   * same time refuses everything until its controller has counted the pods.
   */
  private static final Duration UNSETTLED = Duration.ofSeconds(30);

  private final PodWrites pods;

  EvictionCheck(PodWrites pods) {
    this.pods = pods;
  }

  /** Returns why the source may not be evicted now; empty if it may. */
  Optional<Progress> refusal(MigrationContext context, Pod source, boolean mayWait) {
    if (!(pods.evict(source, true) instanceof PodWrites.Refused refused)) {
      return Optional.empty();
    }
    Instant created = Instant.parse(context.migration().getMetadata().getCreationTimestamp());
    return Optional.of(
        mayWait && refused.later() && context.now().isBefore(created.plus(UNSETTLED))
            ? new Progress.Waiting(Reason.EVICTION_REFUSED, refused.sentence())
            : new Progress.Failed(
                Reason.EVICTION_REFUSED.misfit(
                    "eviction of pod " + source.getMetadata().getName(),
                    "an accepted one, because the source is removed after the target runs",
                    refused.sentence())));
  }
}
