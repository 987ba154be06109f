package dev.stasis.operator.eviction;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Looks after what the webhook has begun: leaves a restore for a pod that was evicted, thaws one
 * whose eviction was given up, and clears away.
 */
@ControllerConfiguration(
    name = "eviction",
    informer = @Informer(labelSelector = Api.EVICTION_LABEL),
    generationAwareEventProcessing = false)
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 60000)
public class EvictionReconciler implements Reconciler<GpuCheckpoint> {

  private final Informers informers;
  private final Attempts attempts;
  private final Guards guards;
  private final Events events;
  private final EvictionConfig config;
  private final Clock clock;

  EvictionReconciler(
      Informers informers,
      Attempts attempts,
      Guards guards,
      Events events,
      EvictionConfig config,
      Clock clock) {
    this.informers = informers;
    this.attempts = attempts;
    this.guards = guards;
    this.events = events;
    this.config = config;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, GpuCheckpoint>> prepareEventSources(
      EventSourceContext<GpuCheckpoint> context) {
    // The restore that is left has the name of its checkpoint.
    return List.of(
        new ClusterSource<GpuRestore, GpuCheckpoint>(
            "eviction",
            GpuRestore.class,
            informers,
            change -> List.of(ResourceID.fromResource(change.subject()))));
  }

  @Override
  public UpdateControl<GpuCheckpoint> reconcile(
      GpuCheckpoint checkpoint, Context<GpuCheckpoint> context) {
    Attempt attempt = new Attempt(checkpoint);
    if (checkpoint.getMetadata().getDeletionTimestamp() != null || !Attempt.is(checkpoint)) {
      return UpdateControl.noUpdate();
    }
    try (LogContext fields = LogContext.of(checkpoint)) {
      Optional<Instant> again =
          attempt.phase() == CheckpointPhase.READY
              ? evicted(attempt)
              : attempt.phase().isFinal() ? failed(attempt) : atWork(attempt);
      UpdateControl<GpuCheckpoint> control = UpdateControl.noUpdate();
      again.ifPresent(time -> control.rescheduleAfter(until(time)));
      return control;
    }
  }

  /** The pod is gone: it comes back elsewhere. */
  private Optional<Instant> evicted(Attempt attempt) {
    if (attempt.restore().isEmpty()) {
      guards.leave(namespace(attempt), podUid(attempt));
      attempts.restore(attempt);
      return Optional.empty();
    }
    Optional<Instant> back =
        informers.restoresOf(namespace(attempt), attempt.name()).stream()
            .filter(restore -> attempt.restore().get().equals(restore.getMetadata().getName()))
            .filter(EvictionReconciler::isBack)
            .map(EvictionReconciler::entered)
            .findFirst();
    return back.flatMap(time -> cleared(attempt, time));
  }

  /** It goes on where it was, or goes as it is: another attempt may follow. */
  private Optional<Instant> failed(Attempt attempt) {
    Instant quiet = attempt.requested().plus(config.givenUpAfter());
    if (clock.instant().isBefore(quiet)) {
      return Optional.of(quiet);
    }
    Optional<Pod> pod = pod(attempt);
    // A later attempt has them in hand.
    boolean last = pod.map(it -> isLast(attempt, it)).orElse(true);
    if (last) {
      guards.leave(namespace(attempt), podUid(attempt));
      pod.ifPresent(guards::forget);
      pod.ifPresent(attempts::forget);
    }
    return cleared(attempt, quiet);
  }

  private boolean isLast(Attempt attempt, Pod pod) {
    List<Attempt> all = attempts.of(pod);
    return all.isEmpty() || all.get(all.size() - 1).name().equals(attempt.name());
  }

  private Optional<Instant> atWork(Attempt attempt) {
    Instant quiet = attempt.requested().plus(config.givenUpAfter());
    if (attempt.isCancelled()) {
      return Optional.empty();
    }
    if (clock.instant().isBefore(quiet)) {
      return Optional.of(quiet);
    }
    boolean leaves =
        pod(attempt).map(it -> it.getMetadata().getDeletionTimestamp() != null).orElse(true);
    if (!leaves && attempts.cancel(attempt)) {
      String sentence =
          "nobody has asked for its eviction for %ds: it goes on"
              .formatted(config.givenUpAfter().toSeconds());
      events.tell(
          Story.normal(attempt.checkpoint(), Reason.EVICTION_GIVEN_UP, sentence, "given up"));
      pod(attempt)
          .ifPresent(
              pod ->
                  events.tell(
                      Story.normal(pod, Reason.EVICTION_GIVEN_UP, sentence, attempt.name())));
    }
    return Optional.empty();
  }

  private Optional<Instant> cleared(Attempt attempt, Instant over) {
    Instant end = over.plus(config.keep());
    if (clock.instant().isBefore(end)) {
      return Optional.of(end);
    }
    attempts.delete(attempt);
    return Optional.empty();
  }

  private Optional<Pod> pod(Attempt attempt) {
    return informers
        .pod(namespace(attempt), attempt.checkpoint().getSpec().getPodName())
        .filter(pod -> pod.getMetadata().getUid().equals(podUid(attempt)));
  }

  private Duration until(Instant time) {
    Duration left = Duration.between(clock.instant(), time);
    return left.isNegative() ? Duration.ZERO : left.plusMillis(1);
  }

  private static boolean isBack(GpuRestore restore) {
    return restore.getStatus() != null && restore.getStatus().getPhase() == RestorePhase.SUCCEEDED;
  }

  private static Instant entered(GpuRestore restore) {
    var phases = restore.getStatus().getPhases();
    return phases == null || phases.isEmpty()
        ? Instant.parse(restore.getMetadata().getCreationTimestamp())
        : phases.get(phases.size() - 1).time();
  }

  private static String namespace(Attempt attempt) {
    return attempt.checkpoint().getMetadata().getNamespace();
  }

  /** By its label, without which it would not be looked at here. */
  private static String podUid(Attempt attempt) {
    return attempt.checkpoint().getMetadata().getLabels().getOrDefault(Api.EVICTION_LABEL, "");
  }
}
