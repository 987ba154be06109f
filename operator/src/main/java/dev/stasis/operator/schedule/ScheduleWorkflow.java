package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.schedule.ScheduledRun;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.request.RequestWrites;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Reconciles a schedule: starts runs, deletes expired checkpoints, restores failed pods. */
final class ScheduleWorkflow {

  /** Deletions per reconciliation: the first retention of a schedule may find thousands. */
  private static final int DELETIONS = 100;

  /**
   * When refused runs are repeated. No event reports that a quota has room again. Retention frees
   * quota within seconds.
   */
  private static final Backoff REFUSED = new Backoff(Duration.ofSeconds(15), Backoff.PATIENT);

  private final ScheduleObserver observer;
  private final RetentionPolicy retention = new RetentionPolicy();
  private final RunPlanner runs = new RunPlanner();
  private final ScheduleStatusUpdater statusUpdater = new ScheduleStatusUpdater();
  private final AutomaticRestores restores;
  private final RequestWrites writes;
  private final EventRecorder events;

  ScheduleWorkflow(
      ScheduleObserver observer,
      AutomaticRestores restores,
      RequestWrites writes,
      EventRecorder events) {
    this.observer = observer;
    this.restores = restores;
    this.writes = writes;
    this.events = events;
  }

  /**
   * When to reconcile again.
   *
   * @param next when something is due next; empty if unknown
   * @param atOnce whether the status has a new decision to carry out
   * @param poll the interval for polling states that emit no event; empty if there are none
   */
  record Requeue(Optional<Instant> next, boolean atOnce, Optional<Duration> poll) {}

  Requeue reconcile(GpuCheckpointSchedule schedule, Report report, Instant now) {
    ScheduleState state;
    try {
      state = observer.observe(schedule, now);
    } catch (IllegalArgumentException e) {
      invalid(schedule, report, Reason.INVALID_SELECTOR, e);
      return new Requeue(Optional.empty(), false, Optional.empty());
    }
    Optional<RunPlanner.Plan> plan = times(state, report).map(it -> runs.plan(state, it));
    List<String> refusals = plan.map(it -> begin(state, it)).orElse(List.of());
    statusUpdater.runs(state, refusals.isEmpty() ? plan : plan.map(RunPlanner.Plan::unsettled));
    statusUpdater.restorePhases(state);
    boolean decided = restores.decide(state);
    // After the decisions: a pod that has failed now is restored from an older checkpoint.
    boolean more = deleteExpired(state);
    plan.ifPresent(it -> summarize(state, it, refusals, report));
    Optional<Duration> poll = more || decided ? Optional.empty() : restores.carryOut(state, report);
    Optional<Instant> next =
        Stream.of(
                plan.stream().flatMap(RunPlanner.Plan::times),
                retention.nextExpiry(state).stream(),
                plan.flatMap(RunPlanner.Plan::due).stream()
                    .filter(due -> !refusals.isEmpty())
                    .map(due -> now.plus(REFUSED.after(due, now))))
            .flatMap(times -> times)
            .min(Comparator.naturalOrder());
    return new Requeue(next, more || decided, poll);
  }

  private Optional<CronTimes> times(ScheduleState state, Report report) {
    try {
      CronTimes times =
          CronTimes.of(state.spec().getSchedule(), state.spec().getOptions().getTimeZone());
      if (times.nextAfter(state.now()).isEmpty()) {
        throw new IllegalArgumentException(
            "schedule: expected a date that exists, got \"" + state.spec().getSchedule() + "\"");
      }
      return Optional.of(times);
    } catch (IllegalArgumentException e) {
      invalid(state.schedule(), report, Reason.INVALID_SCHEDULE, e);
      return Optional.empty();
    }
  }

  private void invalid(
      GpuCheckpointSchedule schedule, Report report, Reason reason, IllegalArgumentException e) {
    String sentence = String.valueOf(e.getMessage());
    report.stalled(reason, sentence);
    events.warning(schedule, reason, sentence, "invalid/" + schedule.getMetadata().getGeneration());
  }

  /** Returns the refusals of runs: the others start, and these are repeated. */
  private List<String> begin(ScheduleState state, RunPlanner.Plan plan) {
    plan.replaced().forEach(checkpoint -> writes.cancel(checkpoint.object()));
    List<String> refusals = new ArrayList<>();
    for (RunPlanner.Run run : plan.begin()) {
      Optional<String> refusal =
          writes.create(new ScheduleRequests(state.schedule()).checkpoint(run));
      if (refusal.isPresent()) {
        String sentence =
            "run of pod %s, due at %s, is refused and repeated: %s"
                .formatted(run.pod().getMetadata().getName(), run.due(), refusal.get());
        refusals.add(sentence);
        events.warning(
            state.schedule(), Reason.CHECKPOINT_REFUSED, sentence, "refused/" + run.checkpoint());
        continue;
      }
      events.normal(
          state.schedule(),
          Reason.RUN_BEGUN,
          "GpuCheckpoint %s of pod %s, due at %s"
              .formatted(run.checkpoint(), run.pod().getMetadata().getName(), run.due()),
          run.checkpoint());
    }
    for (ScheduledRun run : plan.skipped()) {
      String why =
          Reason.DEADLINE_EXCEEDED.value().equals(run.reason())
              ? "the start is later than startingDeadlineSeconds allows"
              : "the last run is still active";
      events.warning(
          state.schedule(),
          Reason.RUN_SKIPPED,
          "run of pod %s, due at %s: %s".formatted(run.pod(), run.time(), why),
          run.pod() + run.time());
    }
    return refusals;
  }

  /** Returns whether more are left to delete. */
  private boolean deleteExpired(ScheduleState state) {
    List<ScheduledCheckpoint> expired = retention.expired(state);
    for (ScheduledCheckpoint checkpoint : expired.subList(0, Math.min(expired.size(), DELETIONS))) {
      writes.delete(checkpoint.object());
      events.normal(
          state.schedule(),
          Reason.RETENTION,
          checkpoint.name() + " is deleted by the retention policy",
          checkpoint.name());
    }
    return expired.size() > DELETIONS;
  }

  private void summarize(
      ScheduleState state, RunPlanner.Plan plan, List<String> refusals, Report report) {
    if (Boolean.TRUE.equals(state.spec().getSuspend())) {
      report.rests(Reason.PAUSED, "no runs: spec.suspend is true");
    } else if (state.pods().isEmpty()) {
      report.rests(
          Reason.NO_POD_MATCHES,
          "selector: expected pods with GPUs in namespace %s, got none among its %d pods"
              .formatted(state.namespace(), observer.pods(state.namespace())));
    } else if (!refusals.isEmpty()) {
      report.notReached(
          Reason.CHECKPOINT_REFUSED,
          refusals.size() == 1
              ? refusals.get(0)
              : "%s; and %d more runs".formatted(refusals.get(0), refusals.size() - 1));
    } else {
      report.done(
          Reason.SCHEDULED,
          "%d pods, the next run at %s"
              .formatted(state.pods().size(), plan.next().map(Instant::toString).orElse("never")));
    }
  }
}
