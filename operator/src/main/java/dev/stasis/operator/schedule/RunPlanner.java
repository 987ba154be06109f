package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.schedule.ConcurrencyPolicy;
import dev.stasis.api.v1beta1.schedule.ScheduledRun;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.request.DerivedName;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Plans the runs that start now. Of several missed times only the last one is caught up. */
final class RunPlanner {

  /**
   * A run that starts.
   *
   * @param checkpoint name of its GpuCheckpoint
   * @param due its scheduled time
   */
  record Run(String checkpoint, Pod pod, Instant due) {}

  /**
   * The runs of one time.
   *
   * @param begin runs that start
   * @param replaced runs that are canceled for them
   * @param skipped runs that are skipped
   * @param due the time; empty if nothing is due
   * @param settled whether all runs of that time have started or are skipped
   * @param next the next scheduled time
   * @param jittered when the next run that waits for its jitter starts
   */
  record Plan(
      List<Run> begin,
      List<ScheduledCheckpoint> replaced,
      List<ScheduledRun> skipped,
      Optional<Instant> due,
      boolean settled,
      Optional<Instant> next,
      Optional<Instant> jittered) {

    /** Returns the plan with runs that have not started, because the API server refuses them. */
    Plan unsettled() {
      return new Plan(begin, replaced, skipped, due, false, next, jittered);
    }

    /** Returns when the plan changes without a change in the cluster. */
    Stream<Instant> times() {
      return Stream.of(next, jittered).flatMap(Optional::stream);
    }
  }

  /**
   * A run of one pod. Its start and its name are derived from it, so a restarted operator
   * recognizes the run that it started.
   *
   * @param schedule uid of the GpuCheckpointSchedule
   * @param due its scheduled time, before jitter
   */
  record RunTime(String schedule, String podUid, Instant due) {

    /** Returns when it starts: the runs of a time are spread over the jitter. */
    Instant begins(Duration jitter) {
      return jitter.toMillis() <= 0
          ? due
          : due.plusMillis(name().number().mod(BigInteger.valueOf(jitter.toMillis())).longValue());
    }

    /**
     * Returns whether it is too late to start.
     *
     * @param late the allowed delay; empty means until the next run is due
     */
    boolean isTooLate(Duration jitter, Optional<Duration> late, Instant now) {
      return late.filter(most -> begins(jitter).plus(most).isBefore(now)).isPresent();
    }

    String checkpointName(String scheduleName) {
      return scheduleName + "-" + name().suffix();
    }

    private DerivedName name() {
      return new DerivedName(schedule + "/" + podUid + "/" + due);
    }
  }

  Plan plan(ScheduleState state, CronTimes times) {
    Optional<Instant> next = times.nextAfter(state.now());
    Instant settledUntil = state.status().getSettledScheduleTime();
    Optional<Instant> due =
        Boolean.TRUE.equals(state.spec().getSuspend())
            ? Optional.empty()
            : times
                .lastUntil(state.now())
                .filter(time -> !time.isBefore(state.created()))
                .filter(time -> settledUntil == null || time.isAfter(settledUntil));
    List<Run> begin = new ArrayList<>();
    List<ScheduledCheckpoint> replaced = new ArrayList<>();
    List<ScheduledRun> skipped = new ArrayList<>();
    if (due.isEmpty()) {
      return new Plan(begin, replaced, skipped, due, false, next, Optional.empty());
    }
    Instant time = due.get();
    Duration jitter = jitter(state, time, next);
    Optional<Duration> late =
        Optional.ofNullable(state.spec().getOptions().getStartingDeadlineSeconds())
            .map(Duration::ofSeconds);
    ConcurrencyPolicy concurrency = state.spec().getOptions().getConcurrencyPolicy();
    Set<String> begun =
        state.checkpoints().stream().map(ScheduledCheckpoint::name).collect(Collectors.toSet());
    Map<String, List<ScheduledCheckpoint>> active =
        state.checkpoints().stream()
            .filter(ScheduledCheckpoint::isActive)
            .collect(Collectors.groupingBy(ScheduledCheckpoint::podUid));
    Instant jittered = null;
    for (Pod pod : state.pods()) {
      RunTime run = new RunTime(state.uid(), pod.getMetadata().getUid(), time);
      String name = run.checkpointName(state.name());
      if (!ranAt(pod, time) || begun.contains(name)) {
        continue;
      }
      Instant begins = run.begins(jitter);
      List<ScheduledCheckpoint> others = active.getOrDefault(pod.getMetadata().getUid(), List.of());
      if (begins.isAfter(state.now())) {
        jittered = jittered == null || begins.isBefore(jittered) ? begins : jittered;
      } else if (run.isTooLate(jitter, late, state.now())) {
        skipped.add(skipped(pod, time, Reason.DEADLINE_EXCEEDED));
      } else if (!others.isEmpty() && concurrency == ConcurrencyPolicy.FORBID) {
        skipped.add(skipped(pod, time, Reason.ANOTHER_OPERATION));
      } else {
        if (concurrency == ConcurrencyPolicy.REPLACE) {
          replaced.addAll(others);
        }
        begin.add(new Run(name, pod, time));
      }
    }
    boolean settled = !state.now().isBefore(time.plus(jitter));
    return new Plan(begin, replaced, skipped, due, settled, next, Optional.ofNullable(jittered));
  }

  /**
   * Returns the jitter, which is at most the time to the next run: a longer one would lose runs.
   */
  private static Duration jitter(ScheduleState state, Instant due, Optional<Instant> next) {
    Duration jitter = state.spec().getOptions().getJitter().duration();
    return next.map(it -> Duration.between(due, it))
        .filter(period -> period.compareTo(jitter) < 0)
        .orElse(jitter);
  }

  /** Returns whether the pod runs, and already existed when the run was due. */
  private static boolean ranAt(Pod pod, Instant due) {
    PodState state = new PodState(pod);
    return state.isIn("Running")
        && !state.isBeingDeleted()
        && !Instant.parse(pod.getMetadata().getCreationTimestamp()).isAfter(due);
  }

  private static ScheduledRun skipped(Pod pod, Instant due, Reason reason) {
    return new ScheduledRun(
        null, pod.getMetadata().getName(), due, null, reason.value(), null, null, null);
  }
}
