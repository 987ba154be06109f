package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.schedule.Retention;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which checkpoints go. Number and age count for each pod, the size for all of them together. The
 * newest good one of each pod stays whatever the rule says, and so does one that is in use.
 *
 * @param retention what the schedule asks for
 */
public record RetentionRule(Retention retention) {

  private static final Comparator<KeptCheckpoint> OLDEST_FIRST =
      Comparator.comparing(KeptCheckpoint::time).thenComparing(KeptCheckpoint::name);

  /** Those to delete, the oldest first. */
  public List<KeptCheckpoint> excess(Collection<KeptCheckpoint> all, Instant now) {
    List<KeptCheckpoint> oldestFirst = all.stream().sorted(OLDEST_FIRST).toList();
    Map<String, KeptCheckpoint> newestGood = new HashMap<>();
    oldestFirst.stream().filter(KeptCheckpoint::good).forEach(it -> newestGood.put(it.pod(), it));
    Set<KeptCheckpoint> goes = new LinkedHashSet<>();
    for (KeptCheckpoint checkpoint : oldestFirst) {
      boolean stays = checkpoint.inUse() || checkpoint.equals(newestGood.get(checkpoint.pod()));
      if (!stays && (isOld(checkpoint, now) || isBeyondCount(checkpoint, oldestFirst))) {
        goes.add(checkpoint);
      }
    }
    Long most = retention.maxTotalBytes();
    if (most != null) {
      long bytes =
          oldestFirst.stream()
              .filter(it -> !goes.contains(it))
              .mapToLong(KeptCheckpoint::bytes)
              .sum();
      for (KeptCheckpoint checkpoint : oldestFirst) {
        boolean stays = checkpoint.inUse() || checkpoint.equals(newestGood.get(checkpoint.pod()));
        if (bytes > most && !stays && goes.add(checkpoint)) {
          bytes -= checkpoint.bytes();
        }
      }
    }
    List<KeptCheckpoint> sorted = new ArrayList<>(goes);
    sorted.sort(OLDEST_FIRST);
    return sorted;
  }

  private boolean isOld(KeptCheckpoint checkpoint, Instant now) {
    return retention.maxAge() != null
        && checkpoint.time().plus(retention.maxAge().duration()).isBefore(now);
  }

  /**
   * Whether as many newer good ones of its pod are there as shall be kept. One that failed keeps no
   * good one out, and goes as soon as the good ones are enough.
   */
  private boolean isBeyondCount(KeptCheckpoint checkpoint, List<KeptCheckpoint> all) {
    Integer keep = retention.keepLast();
    if (keep == null) {
      return false;
    }
    long newer =
        all.stream()
            .filter(it -> it.pod().equals(checkpoint.pod()) && it.good())
            .filter(it -> OLDEST_FIRST.compare(it, checkpoint) > 0)
            .count();
    return newer >= keep;
  }
}
