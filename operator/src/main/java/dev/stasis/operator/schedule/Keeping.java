package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.schedule.Retention;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Which of a schedule's checkpoints go, and which one would be restored. */
final class Keeping {

  /** Those to delete, the oldest first. */
  List<Taken> excess(View view) {
    Retention retention = view.spec().getRetention();
    if (retention == null) {
      return List.of();
    }
    Set<Taken> reachable = newestReachable(view);
    Map<String, Taken> byName = new HashMap<>();
    List<KeptCheckpoint> all =
        view.taken().stream()
            .filter(taken -> taken.object().getMetadata().getDeletionTimestamp() == null)
            .map(
                taken -> {
                  byName.put(taken.name(), taken);
                  return kept(view, taken, reachable.contains(taken));
                })
            .toList();
    return new RetentionRule(retention)
        .excess(all, view.now()).stream().map(it -> byName.get(it.name())).toList();
  }

  /** When the next one grows too old; empty: none does. */
  Optional<Instant> nextExpiry(View view) {
    Retention retention = view.spec().getRetention();
    if (retention == null || retention.maxAge() == null) {
      return Optional.empty();
    }
    Duration age = retention.maxAge().duration();
    return view.taken().stream()
        .map(taken -> taken.due().plus(age))
        .filter(end -> end.isAfter(view.now()))
        .min(Comparator.naturalOrder())
        // The rule asks for more than the age.
        .map(end -> end.plusSeconds(1));
  }

  /** The newest one that could be restored now. */
  Optional<Taken> newestGood(View view) {
    return view.taken().stream()
        .filter(taken -> taken.isGood() && view.outOfReach(taken).isEmpty())
        .max(Taken.OLDEST_FIRST);
  }

  /** Of each pod; a newer one on a node that is away does not make it needless. */
  private static Set<Taken> newestReachable(View view) {
    return view.taken().stream()
        .filter(taken -> taken.isGood() && view.outOfReach(taken).isEmpty())
        .collect(
            Collectors.groupingBy(Taken::pod, Collectors.maxBy(Comparator.comparing(Taken::due))))
        .values()
        .stream()
        .flatMap(Optional::stream)
        .collect(Collectors.toSet());
  }

  private static KeptCheckpoint kept(View view, Taken taken, boolean newestReachable) {
    // A run of the time that is not settled would be begun again if it were not there.
    Instant settled = view.status().getSettledScheduleTime();
    boolean open = settled == null || taken.due().isAfter(settled);
    return new KeptCheckpoint(
        taken.name(),
        taken.pod(),
        taken.due(),
        taken.bytes(),
        taken.isGood(),
        newestReachable || open || view.isInUse(taken));
  }
}
