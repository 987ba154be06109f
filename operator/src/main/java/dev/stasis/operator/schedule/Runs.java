package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.schedule.ConcurrencyPolicy;
import dev.stasis.api.v1alpha1.schedule.ScheduledRun;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Which runs begin now, and when to look again. Of several that were missed only the last. */
final class Runs {

  /**
   * A run that begins.
   *
   * @param checkpoint name of its GpuCheckpoint
   * @param pod whose it is
   * @param due when it was due
   */
  record Begin(String checkpoint, Pod pod, Instant due) {}

  /**
   * What is to be done.
   *
   * @param begin runs that begin
   * @param replaced runs that are cancelled for it
   * @param skipped runs that are left out
   * @param due the time of which this is; empty: nothing is due
   * @param settled whether all of that time have begun or are left out
   * @param next when the next ones are due
   * @param lookAgain when one of this time begins that waits for its jitter
   */
  record Plan(
      List<Begin> begin,
      List<Taken> replaced,
      List<ScheduledRun> skipped,
      Optional<Instant> due,
      boolean settled,
      Optional<Instant> next,
      Optional<Instant> lookAgain) {
    Plan {
      begin = List.copyOf(begin);
      replaced = List.copyOf(replaced);
      skipped = List.copyOf(skipped);
    }
  }

  Plan plan(View view, CronTimes times) {
    Optional<Instant> next = times.nextAfter(view.now());
    Optional<Instant> due =
        times
            .lastUntil(view.now())
            .filter(time -> !time.isBefore(view.created()))
            .filter(time -> isOpen(view, time));
    if (due.isEmpty() || Boolean.TRUE.equals(view.spec().getSuspend())) {
      return new Plan(
          List.of(), List.of(), List.of(), Optional.empty(), false, next, Optional.empty());
    }
    Instant time = due.get();
    Duration spread = spread(view, time, next);
    List<Begin> begin = new ArrayList<>();
    List<Taken> replaced = new ArrayList<>();
    List<ScheduledRun> skipped = new ArrayList<>();
    Instant lookAgain = null;
    for (Pod pod : view.pods()) {
      RunTime run = new RunTime(view.uid(), pod.getMetadata().getUid(), time);
      String name = run.checkpointName(view.name());
      if (!isReadyFor(pod, time) || isThere(view, name)) {
        continue;
      }
      Instant begins = run.begins(spread);
      if (begins.isAfter(view.now())) {
        lookAgain = lookAgain == null || begins.isBefore(lookAgain) ? begins : lookAgain;
        continue;
      }
      if (run.isTooLate(spread, late(view), view.now())) {
        skipped.add(skipped(pod, time, Reason.DEADLINE_EXCEEDED));
        continue;
      }
      List<Taken> atWork = atWork(view, pod);
      if (!atWork.isEmpty() && view.spec().getConcurrencyPolicy() == ConcurrencyPolicy.FORBID) {
        skipped.add(skipped(pod, time, Reason.ANOTHER_OPERATION));
        continue;
      }
      if (view.spec().getConcurrencyPolicy() == ConcurrencyPolicy.REPLACE) {
        replaced.addAll(atWork);
      }
      begin.add(new Begin(name, pod, time));
    }
    boolean settled = !view.now().isBefore(time.plus(spread));
    return new Plan(begin, replaced, skipped, due, settled, next, Optional.ofNullable(lookAgain));
  }

  private static boolean isOpen(View view, Instant due) {
    Instant settled = view.status().getSettledScheduleTime();
    return settled == null || due.isAfter(settled);
  }

  /** A jitter that is longer than the time to the next run would lose runs. */
  private static Duration spread(View view, Instant due, Optional<Instant> next) {
    Duration jitter = view.spec().getJitter().duration();
    return next.map(it -> Duration.between(due, it))
        .filter(period -> period.compareTo(jitter) < 0)
        .orElse(jitter);
  }

  private static Optional<Duration> late(View view) {
    return Optional.ofNullable(view.spec().getStartingDeadlineSeconds()).map(Duration::ofSeconds);
  }

  /** It runs, and was there when the run was due. */
  private static boolean isReadyFor(Pod pod, Instant due) {
    return pod.getMetadata().getDeletionTimestamp() == null
        && pod.getStatus() != null
        && "Running".equals(pod.getStatus().getPhase())
        && !Instant.parse(pod.getMetadata().getCreationTimestamp()).isAfter(due);
  }

  private static boolean isThere(View view, String name) {
    return view.taken().stream().anyMatch(taken -> taken.name().equals(name));
  }

  private static List<Taken> atWork(View view, Pod pod) {
    return view.taken().stream()
        .filter(taken -> taken.podUid().equals(pod.getMetadata().getUid()) && taken.isAtWork())
        .toList();
  }

  private static ScheduledRun skipped(Pod pod, Instant due, Reason why) {
    return new ScheduledRun(
        null, pod.getMetadata().getName(), due, null, why.word(), null, null, null);
  }
}
