package dev.stasis.operator.schedule;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleStatus;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.request.ClusterRequestWrites;
import dev.stasis.operator.request.RequestWrites;
import dev.stasis.operator.status.Change;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.ErrorStatus;
import dev.stasis.operator.status.Report;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Reconciles GpuCheckpointSchedules. */
@ControllerConfiguration(name = "gpucheckpointschedule")
// Retried for as long as the API server is unavailable.
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 60000)
// Many events trigger one reconciliation: each reads all pods of a namespace.
@RateLimited(maxReconciliations = 10, within = 1)
public class ScheduleReconciler implements Reconciler<GpuCheckpointSchedule> {

  /** By then a write has reached the cache. */
  private static final Duration SOON = Duration.ofMillis(50);

  private final Informers informers;
  private final DeletedPods deletedPods;
  private final MovedPods movedPods;
  private final ScheduleWorkflow workflow;
  private final Changes changes;
  private final SkewGuard skew;
  private final ScheduleMetrics metrics;
  private final Clock clock;

  ScheduleReconciler(
      Informers informers,
      KubernetesClient client,
      EventRecorder events,
      Changes changes,
      ScheduleMetrics metrics,
      StasisConfig config,
      Departure departure,
      Clock clock) {
    this.informers = informers;
    GpuPods gpus = new GpuPods(config.gpuResources());
    this.deletedPods = new DeletedPods(gpus, clock);
    this.movedPods = new MovedPods(informers);
    RequestWrites writes = new ClusterRequestWrites(client, clock);
    this.workflow =
        new ScheduleWorkflow(
            new ScheduleObserver(informers, gpus, deletedPods),
            new AutomaticRestores(
                informers,
                gpus,
                movedPods,
                writes,
                pod -> departure.refusal().or(() -> departure.prepare(pod)),
                events,
                config.lookAgainEvery()),
            writes,
            events);
    this.changes = changes;
    this.skew = new SkewGuard(events);
    this.metrics = metrics;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, GpuCheckpointSchedule>> prepareEventSources(
      EventSourceContext<GpuCheckpointSchedule> context) {
    informers.listen(
        Pod.class,
        change ->
            change.before().filter(it -> change.after().isEmpty()).ifPresent(deletedPods::add));
    informers.listen(GpuMigration.class, change -> movedPods.note(change.subject()));
    informers.listen(GpuCheckpoint.class, change -> movedPods.note(change.subject()));
    ScheduleEventSources sources = new ScheduleEventSources(context.getPrimaryCache());
    return List.of(
        new ClusterSource<>(Pod.class, informers, sources::ofPod),
        new ClusterSource<>(GpuCheckpoint.class, informers, sources::ofRequest),
        new ClusterSource<>(GpuMigration.class, informers, sources::ofRequest),
        new ClusterSource<>(GpuRestore.class, informers, sources::ofRequest));
  }

  @Override
  public UpdateControl<GpuCheckpointSchedule> reconcile(
      GpuCheckpointSchedule schedule, Context<GpuCheckpointSchedule> context) {
    metrics.register(ResourceID.fromResource(schedule), context.getPrimaryCache());
    if (skew.holds(schedule)) {
      return UpdateControl.noUpdate();
    }
    boolean first = schedule.getStatus() == null;
    if (first) {
      schedule.setStatus(new GpuCheckpointScheduleStatus());
    }
    JsonNode before = changes.snapshot(schedule.getStatus());
    Instant now = clock.instant();
    ScheduleWorkflow.Requeue requeue;
    try (LogContext fields = LogContext.of(schedule)) {
      Report report =
          new Report(
              schedule.getStatus(),
              ConditionType.READY,
              schedule.getMetadata().getGeneration(),
              clock);
      requeue = workflow.reconcile(schedule, report, now);
      report.writeTo(schedule.getStatus());
    }
    ErrorStatus.clear(schedule.getStatus());
    boolean changed = first || changes.between(before, schedule.getStatus()) != Change.NONE;
    UpdateControl<GpuCheckpointSchedule> done =
        changed ? UpdateControl.patchStatus(schedule) : UpdateControl.noUpdate();
    // A change of the spec during the status write emits no event (WishSource).
    if (requeue.atOnce() || changed) {
      done.rescheduleAfter(SOON);
    } else if (requeue.poll().isPresent()) {
      done.rescheduleAfter(requeue.poll().get());
    } else {
      requeue
          .next()
          .map(time -> Duration.between(now, time).plus(SOON))
          .filter(wait -> !wait.isNegative())
          .ifPresent(done::rescheduleAfter);
    }
    return done;
  }

  @Override
  public ErrorStatusUpdateControl<GpuCheckpointSchedule> updateErrorStatus(
      GpuCheckpointSchedule failed, Context<GpuCheckpointSchedule> context, Exception error) {
    return ErrorStatus.of(failed, context, clock, error);
  }
}
