package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.api.v1beta1.schedule.Retention;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which checkpoints of a schedule are deleted. Number and age apply to each pod, the size to all
 * pods together. The newest restorable checkpoint of each pod and those in use are always kept.
 * Neither number nor size deletes the restorable checkpoint of each pod with the most work: after a
 * crash, a week of work would soon be replaced by the first minutes of a new start.
 */
final class RetentionPolicy {

  /**
   * A checkpoint as far as retention is concerned.
   *
   * @param name of the GpuCheckpoint
   * @param pod name of its pod
   * @param time when it was due
   * @param work how long its workload had run
   * @param bytes size of its artifact
   * @param restorable whether it could be restored now and is stored as its store promises
   * @param inUse whether it is needed, or not complete yet
   */
  record Candidate(
      String name,
      String pod,
      Instant time,
      Duration work,
      long bytes,
      boolean restorable,
      boolean inUse) {}

  private static final Comparator<Candidate> OLDEST_FIRST =
      Comparator.comparing(Candidate::time).thenComparing(Candidate::name);

  /** Returns the checkpoints to delete, the oldest first. */
  List<ScheduledCheckpoint> expired(ScheduleState state) {
    Retention retention = state.spec().retention();
    if (retention == null) {
      return List.of();
    }
    Set<String> kept = new HashSet<>(state.inUse());
    newestRestorableNow(state).forEach(checkpoint -> kept.add(checkpoint.name()));
    newestOfRestoredPods(state).forEach(checkpoint -> kept.add(checkpoint.name()));
    ofFailedRestores(state).forEach(checkpoint -> kept.add(checkpoint.name()));
    // If its checkpoint were deleted, a run of an unsettled time would start again.
    Instant settled = state.status().getSettledScheduleTime();
    Map<String, ScheduledCheckpoint> byName =
        state.checkpoints().stream()
            .filter(it -> it.object().getMetadata().getDeletionTimestamp() == null)
            .collect(Collectors.toMap(ScheduledCheckpoint::name, it -> it));
    List<Candidate> candidates =
        byName.values().stream()
            .map(
                it ->
                    new Candidate(
                        it.name(),
                        it.pod(),
                        it.due(),
                        it.work(),
                        it.bytes(),
                        it.isRestorable() && it.isStored(),
                        kept.contains(it.name()) || settled == null || it.due().isAfter(settled)))
            .toList();
    return expired(retention, candidates, state.now()).stream()
        .map(it -> byName.get(it.name()))
        .toList();
  }

  /** Returns the checkpoints to delete, the oldest first. */
  List<Candidate> expired(Retention retention, Collection<Candidate> all, Instant now) {
    List<Candidate> oldestFirst = all.stream().sorted(OLDEST_FIRST).toList();
    Map<String, Candidate> newest = new HashMap<>();
    Map<String, Candidate> mostWork = new HashMap<>();
    oldestFirst.stream()
        .filter(Candidate::restorable)
        .forEach(
            it -> {
              newest.put(it.pod(), it);
              mostWork.merge(it.pod(), it, RetentionPolicy::moreWork);
            });
    List<Candidate> unused =
        oldestFirst.stream().filter(it -> !it.inUse() && !it.equals(newest.get(it.pod()))).toList();
    List<Candidate> deletable =
        unused.stream().filter(it -> !it.equals(mostWork.get(it.pod()))).toList();
    Set<Candidate> beyond = beyondCount(retention, oldestFirst);
    Set<Candidate> expired = new LinkedHashSet<>();
    unused.stream().filter(it -> isTooOld(retention, it, now)).forEach(expired::add);
    deletable.stream().filter(beyond::contains).forEach(expired::add);
    Long most = retention.maxTotalBytes();
    if (most != null) {
      long bytes =
          all.stream().filter(it -> !expired.contains(it)).mapToLong(Candidate::bytes).sum();
      for (Candidate checkpoint : deletable) {
        if (bytes > most && expired.add(checkpoint)) {
          bytes -= checkpoint.bytes();
        }
      }
    }
    return expired.stream().sorted(OLDEST_FIRST).toList();
  }

  /** Returns that with more work; the newer one if they have the same. */
  private static Candidate moreWork(Candidate older, Candidate newer) {
    return newer.work().compareTo(older.work()) < 0 ? older : newer;
  }

  /** Returns when the next checkpoint exceeds its age; empty if none will. */
  Optional<Instant> nextExpiry(ScheduleState state) {
    Retention retention = state.spec().retention();
    if (retention == null || retention.maxAge() == null) {
      return Optional.empty();
    }
    Duration age = retention.maxAge().duration();
    return state.checkpoints().stream()
        .map(checkpoint -> checkpoint.due().plus(age))
        .filter(end -> end.isAfter(state.now()))
        .min(Comparator.naturalOrder())
        // A checkpoint is deleted when it is older than maxAge.
        .map(end -> end.plusSeconds(1));
  }

  /** The newest of each pod: one on a node that is unreachable does not replace an older one. */
  private static Collection<ScheduledCheckpoint> newestRestorableNow(ScheduleState state) {
    return state
        .restorableNow()
        .collect(
            Collectors.toMap(
                ScheduledCheckpoint::pod, it -> it, (a, b) -> b.due().isAfter(a.due()) ? b : a))
        .values();
  }

  /**
   * Returns those from which a pod would be restored that was itself restored, under its name or as
   * a copy. Until it has a checkpoint of its own, it is one of a former pod, which may have newer
   * ones. The pod may just be moved or have failed, and its user may have given it other labels.
   */
  private static Stream<ScheduledCheckpoint> newestOfRestoredPods(ScheduleState state) {
    Map<String, List<ScheduledCheckpoint>> byPod =
        state.checkpoints().stream()
            .filter(it -> it.isRestorable() && it.isStored())
            .collect(Collectors.groupingBy(ScheduledCheckpoint::podUid));
    return state.restoredPods().stream()
        .map(Lineage::of)
        .flatMap(
            lineage -> {
              List<ScheduledCheckpoint> own =
                  lineage.podUids().stream()
                      .flatMap(uid -> byPod.getOrDefault(uid, List.of()).stream())
                      .filter(lineage::has)
                      .sorted(ScheduledCheckpoint.OLDEST_FIRST.reversed())
                      .toList();
              return Stream.concat(
                  own.stream().limit(1),
                  own.stream().filter(it -> state.unreadable(it).isEmpty()).limit(1));
            });
  }

  /** Returns those of pods that are gone, and whose restore has failed: a user may repeat it. */
  private static Stream<ScheduledCheckpoint> ofFailedRestores(ScheduleState state) {
    Set<String> pods =
        state.pods().stream().map(pod -> pod.getMetadata().getName()).collect(Collectors.toSet());
    Set<String> seen = new HashSet<>();
    Set<String> failed =
        state.automaticRestores().stream()
            .filter(restore -> seen.add(restore.pod()))
            .filter(restore -> restore.phase() == RestorePhase.FAILED)
            .filter(restore -> !pods.contains(restore.pod()))
            .map(AutomaticRestore::checkpoint)
            .collect(Collectors.toSet());
    return state.checkpoints().stream()
        .filter(it -> failed.contains(it.name()))
        .filter(it -> it.isRestorable() && it.isStored());
  }

  private static boolean isTooOld(Retention retention, Candidate checkpoint, Instant now) {
    return retention.maxAge() != null
        && checkpoint.time().plus(retention.maxAge().duration()).isBefore(now);
  }

  /**
   * Returns those with {@code keepLast} newer restorable checkpoints of their pod. A failed
   * checkpoint does not count, and is deleted once there are enough restorable ones.
   */
  private static Set<Candidate> beyondCount(Retention retention, List<Candidate> oldestFirst) {
    Integer keep = retention.keepLast();
    Set<Candidate> beyond = new HashSet<>();
    Map<String, Integer> newer = new HashMap<>();
    for (int i = oldestFirst.size() - 1; keep != null && i >= 0; i--) {
      Candidate checkpoint = oldestFirst.get(i);
      if (newer.getOrDefault(checkpoint.pod(), 0) >= keep) {
        beyond.add(checkpoint);
      }
      if (checkpoint.restorable()) {
        newer.merge(checkpoint.pod(), 1, Integer::sum);
      }
    }
    return beyond;
  }
}
