package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Asks by a dry run whether the source may be evicted: before anything is made, and once more
 * before it is frozen. A refusal refuses the migration, since nothing is gained by freezing a pod
 * that has to stay.
 */
@Singleton
class EvictionCheck {

  /**
   * How long after the migration was created a refusal is still waited for: a budget that was
   * created with it refuses everything until its controller has counted the pods.
   */
  private static final Duration UNSETTLED = Duration.ofSeconds(30);

  private final PodWrites pods;

  EvictionCheck(PodWrites pods) {
    this.pods = pods;
  }

  /** Returns what was decided, or what follows from the refusal. */
  Next checked(Next decided, View view) {
    if (decided instanceof Next.Make make) {
      return asked(decided, view, make.source().pod(), true);
    }
    if (decided instanceof Next.Save save) {
      return asked(decided, view, save.source().pod(), true);
    }
    return decided instanceof Next.Freeze freeze
        ? asked(decided, view, freeze.source().pod(), false)
        : decided;
  }

  private Next asked(Next decided, View view, Pod source, boolean mayWait) {
    if (!(pods.evict(source, true) instanceof PodWrites.Refused refused)) {
      return decided;
    }
    Instant created = Instant.parse(view.migration().getMetadata().getCreationTimestamp());
    if (mayWait && refused.later() && view.now().isBefore(created.plus(UNSETTLED))) {
      return new Next.Wait(MigrationPhase.PENDING, Reason.EVICTION_REFUSED, refused.sentence());
    }
    return new Next.RollBack(
        List.of(
            Decider.fault(
                Reason.EVICTION_REFUSED,
                "eviction of pod " + source.getMetadata().getName(),
                "that it is accepted, since the source is removed once the target runs",
                refused.sentence())));
  }
}
