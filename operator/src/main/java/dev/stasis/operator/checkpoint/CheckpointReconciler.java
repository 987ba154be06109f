package dev.stasis.operator.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.owner.PodEvictor;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.status.ErrorStatus;
import dev.stasis.operator.workflow.StatusWriter;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.MaxReconciliationInterval;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Observes, decides, acts, reports. */
@ControllerConfiguration(
    name = "gpucheckpoint",
    finalizerName = Api.FINALIZER,
    informer = @Informer(informerListLimit = 500),
    // A node that falls silent tells nobody; a Ready object is looked at for it now and then.
    maxReconciliationInterval =
        @MaxReconciliationInterval(interval = 10, timeUnit = TimeUnit.MINUTES))
// An API server that does not answer is asked for ever, at most every half minute.
@GradualRetry(
    maxAttempts = Integer.MAX_VALUE,
    initialInterval = 500,
    intervalMultiplier = 2,
    maxInterval = 30_000)
// The last resort against a loop; the agents report progress once a second.
@RateLimited(maxReconciliations = 50, within = 5)
public class CheckpointReconciler implements Reconciler<GpuCheckpoint>, Cleaner<GpuCheckpoint> {

  private static final Set<CheckpointPhase> FROZEN =
      Set.of(CheckpointPhase.FREEZING, CheckpointPhase.SAVING, CheckpointPhase.RESUMING);

  private final Observer observer;
  private final Course course;
  private final Hands hands;
  private final StatusWriter<GpuCheckpoint, GpuCheckpointStatus> statuses;
  private final Clock clock;
  private final StasisConfig config;
  private final WakeUps wakeUps;
  private final SkewGuard skew;

  CheckpointReconciler(
      Informers informers,
      Operations operations,
      PodWrites pods,
      EventRecorder events,
      KubernetesClient client,
      Changes changes,
      Clock clock,
      StasisConfig config,
      WakeUps wakeUps,
      Departure departure) {
    this.observer =
        new Observer(informers, pods, new PodEvictor(pods, departure), client, clock, config);
    this.course = new Course(operations, client.getKubernetesSerialization());
    this.hands = new Hands(operations, pods, events, client, departure);
    this.statuses =
        new StatusWriter<>(GpuCheckpointStatus::new, changes, config.progressEvery(), clock);
    this.clock = clock;
    this.config = config;
    this.wakeUps = wakeUps;
    this.skew = new SkewGuard(events);
  }

  @Override
  public List<EventSource<?, GpuCheckpoint>> prepareEventSources(
      EventSourceContext<GpuCheckpoint> context) {
    return wakeUps.sources(context.getPrimaryCache());
  }

  @Override
  public UpdateControl<GpuCheckpoint> reconcile(
      GpuCheckpoint checkpoint, Context<GpuCheckpoint> context) {
    if (skew.holds(checkpoint)) {
      return UpdateControl.noUpdate();
    }
    Optional<JsonNode> before = statuses.read(checkpoint);
    CheckpointPhase phase = checkpoint.getStatus().getPhase();
    Turn turn = turn(checkpoint);
    CheckpointPhase after = turn.phase();
    // The phases of a freeze can follow each other within a second: a write for each is too many.
    boolean isProgress = phase != null && FROZEN.contains(phase) && FROZEN.contains(after);
    UpdateControl<GpuCheckpoint> control =
        statuses.write(checkpoint, before, isProgress, turn.again(), context);
    if (after.isFinal()) {
      statuses.forget(checkpoint);
    }
    return control;
  }

  @Override
  public ErrorStatusUpdateControl<GpuCheckpoint> updateErrorStatus(
      GpuCheckpoint failed, Context<GpuCheckpoint> context, Exception error) {
    return ErrorStatus.of(failed, context, clock, error);
  }

  @Override
  public DeleteControl cleanup(GpuCheckpoint checkpoint, Context<GpuCheckpoint> context) {
    if (skew.holds(checkpoint)) {
      return DeleteControl.noFinalizerRemoval();
    }
    Optional<JsonNode> before = statuses.read(checkpoint);
    Turn turn = turn(checkpoint);
    if (turn.isOver()) {
      statuses.forget(checkpoint);
      return DeleteControl.defaultDelete();
    }
    // What it waits for, above all an artifact that cannot be deleted.
    statuses.writeDeleted(checkpoint, before, context);
    return DeleteControl.noFinalizerRemoval()
        .rescheduleAfter(turn.again().orElse(config.lookAgainEvery()).toMillis());
  }

  private Turn turn(GpuCheckpoint checkpoint) {
    try (LogContext fields = LogContext.of(checkpoint)) {
      Turn turn = observer.look(checkpoint);
      fields
          .operation(turn.status().getOperation())
          .step(turn.status().getStep())
          .node(turn.node().orElse(null));
      course.next(turn);
      hands.carryOut(turn);
      return turn;
    }
  }
}
