package dev.stasis.operator.schedule;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuCheckpointSchedule;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.schedule.GpuCheckpointScheduleStatus;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.status.Change;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Report;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Takes checkpoints when they are due, lets go of old ones, brings failed pods back. */
@ControllerConfiguration(name = "gpucheckpointschedule")
// An API server that is away comes back: it is asked again for as long as it takes.
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 60000)
public class ScheduleReconciler implements Reconciler<GpuCheckpointSchedule> {

  /** Long enough for a write to be in the cache. */
  private static final Duration AT_ONCE = Duration.ofMillis(50);

  private final Informers informers;
  private final Departures departures;
  private final Observer observer;
  private final Turn turn;
  private final Changes changes;
  private final StasisConfig config;
  private final Clock clock;

  ScheduleReconciler(
      Informers informers,
      KubernetesClient client,
      Events events,
      Changes changes,
      StasisConfig config,
      Departure departure,
      Clock clock) {
    this.informers = informers;
    GpuPods gpus = new GpuPods(config.gpuResources());
    this.departures = new Departures(clock);
    this.observer = new Observer(informers, gpus, departures);
    this.turn = new Turn(informers, gpus, new ClusterDeeds(client, departure), events);
    this.changes = changes;
    this.config = config;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, GpuCheckpointSchedule>> prepareEventSources(
      EventSourceContext<GpuCheckpointSchedule> context) {
    informers.listen(
        Pod.class,
        change ->
            change.before().filter(it -> change.after().isEmpty()).ifPresent(departures::note));
    Concerned concerned = new Concerned(context.getPrimaryCache());
    return List.of(
        concerned.source(Pod.class, informers, concerned::ofPod),
        concerned.source(GpuCheckpoint.class, informers, concerned::ofMade),
        concerned.source(GpuRestore.class, informers, concerned::ofMade));
  }

  @Override
  public UpdateControl<GpuCheckpointSchedule> reconcile(
      GpuCheckpointSchedule schedule, Context<GpuCheckpointSchedule> context) {
    boolean first = schedule.getStatus() == null;
    if (first) {
      schedule.setStatus(new GpuCheckpointScheduleStatus());
    }
    JsonNode before = changes.snapshot(schedule.getStatus());
    Instant now = clock.instant();
    Turn.Outcome outcome;
    try (LogContext fields = LogContext.of(schedule)) {
      Report report =
          new Report(
              schedule.getStatus(),
              ConditionType.READY,
              schedule.getMetadata().getGeneration(),
              clock);
      outcome = turn.take(schedule, observer, report, now);
      report.writeTo(schedule.getStatus());
    }
    boolean changed = first || changes.between(before, schedule.getStatus()) != Change.NONE;
    UpdateControl<GpuCheckpointSchedule> done =
        changed ? UpdateControl.patchStatus(schedule) : UpdateControl.noUpdate();
    // A new spec that comes during the write may go unnoticed (WishSource): nobody else watches
    // these.
    if (outcome.atOnce() || changed) {
      done.rescheduleAfter(AT_ONCE);
    } else if (outcome.waits()) {
      done.rescheduleAfter(config.lookAgainEvery());
    } else {
      outcome
          .next()
          .map(time -> Duration.between(now, time).plus(AT_ONCE))
          .filter(wait -> !wait.isNegative())
          .ifPresent(done::rescheduleAfter);
    }
    return done;
  }
}
