package dev.stasis.operator.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Change;
import dev.stasis.operator.status.Changes;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.MaxReconciliationInterval;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

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
  private final Changes changes;
  private final Clock clock;
  private final StasisConfig config;
  private final WakeUps wakeUps;

  /** When the progress of an object was last written; forgotten with the operator. */
  private final Map<String, Instant> progressed = new ConcurrentHashMap<>();

  CheckpointReconciler(
      Informers informers,
      Operations operations,
      PodWrites pods,
      Events events,
      KubernetesClient client,
      Changes changes,
      Clock clock,
      StasisConfig config,
      WakeUps wakeUps,
      Departure departure) {
    this.observer = new Observer(informers, pods, client, clock, config);
    this.course = new Course(operations, client.getKubernetesSerialization());
    this.hands = new Hands(operations, pods, events, client, departure);
    this.changes = changes;
    this.clock = clock;
    this.config = config;
    this.wakeUps = wakeUps;
  }

  @Override
  public List<EventSource<?, GpuCheckpoint>> prepareEventSources(
      EventSourceContext<GpuCheckpoint> context) {
    return wakeUps.sources(context.getPrimaryCache());
  }

  @Override
  public UpdateControl<GpuCheckpoint> reconcile(
      GpuCheckpoint checkpoint, Context<GpuCheckpoint> context) {
    JsonNode before = changes.snapshot(statusOf(checkpoint));
    CheckpointPhase phase = statusOf(checkpoint).getPhase();
    Turn turn = turn(checkpoint);
    Change change = changes.between(before, turn.status());
    UpdateControl<GpuCheckpoint> control = written(turn, change, phase);
    turn.again().ifPresent(control::rescheduleAfter);
    return control;
  }

  @Override
  public DeleteControl cleanup(GpuCheckpoint checkpoint, Context<GpuCheckpoint> context) {
    JsonNode before = changes.snapshot(statusOf(checkpoint));
    Turn turn = turn(checkpoint);
    if (turn.isOver()) {
      progressed.remove(turn.uid());
      return DeleteControl.defaultDelete();
    }
    if (changes.between(before, turn.status()) == Change.SUBSTANCE) {
      // What it waits for, above all an artifact that cannot be deleted.
      context.getClient().resource(turn.object()).lockResourceVersion().updateStatus();
    }
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

  private UpdateControl<GpuCheckpoint> written(
      Turn turn, Change change, @Nullable CheckpointPhase before) {
    if (change == Change.NONE) {
      return UpdateControl.noUpdate();
    }
    CheckpointPhase after = turn.status().getPhase();
    boolean progress =
        change == Change.PROGRESS
            || before != null && FROZEN.contains(before) && FROZEN.contains(turn.phase());
    if (progress) {
      Instant last = progressed.getOrDefault(turn.uid(), Instant.EPOCH);
      Duration left = config.progressEvery().minus(Duration.between(last, clock.instant()));
      if (!left.isNegative() && !left.isZero()) {
        turn.again(left);
        return UpdateControl.noUpdate();
      }
    }
    progressed.put(turn.uid(), clock.instant());
    if (after != null && after.isFinal()) {
      progressed.remove(turn.uid());
    }
    return UpdateControl.patchStatus(turn.object());
  }

  private static GpuCheckpointStatus statusOf(GpuCheckpoint checkpoint) {
    return Objects.requireNonNullElseGet(checkpoint.getStatus(), GpuCheckpointStatus::new);
  }
}
