package dev.stasis.operator.eviction;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
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
import java.util.Optional;

/**
 * Follows up checkpoints that the eviction webhook created: creates a restore for an evicted pod,
 * cancels the checkpoint if the eviction is no longer requested, and deletes old records.
 */
@ControllerConfiguration(
    name = "eviction",
    informer = @Informer(labelSelector = Api.EVICTION_LABEL),
    generationAwareEventProcessing = false)
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 60000)
// A last protection against a loop.
@RateLimited(maxReconciliations = 50, within = 5)
public class EvictionReconciler implements Reconciler<GpuCheckpoint> {

  private final Informers informers;
  private final EvictionAttempts attempts;
  private final EvictionBudgets budgets;
  private final EventRecorder events;
  private final SkewGuard skew;
  private final EvictionConfig config;
  private final Clock clock;

  EvictionReconciler(
      Informers informers,
      EvictionAttempts attempts,
      EvictionBudgets budgets,
      EventRecorder events,
      EvictionConfig config,
      Clock clock) {
    this.informers = informers;
    this.attempts = attempts;
    this.budgets = budgets;
    this.events = events;
    this.skew = new SkewGuard(events);
    this.config = config;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, GpuCheckpoint>> prepareEventSources(
      EventSourceContext<GpuCheckpoint> context) {
    // The remaining restore has the name of its checkpoint.
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
    EvictionAttempt attempt = new EvictionAttempt(checkpoint);
    if (checkpoint.getMetadata().getDeletionTimestamp() != null
        || !EvictionAttempt.is(checkpoint)
        || skew.holds(checkpoint)) {
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

  /** The pod is evicted, and is restored on another node. */
  private Optional<Instant> evicted(EvictionAttempt attempt) {
    if (attempt.restore().isEmpty()) {
      budgets.delete(namespace(attempt), podUid(attempt));
      attempts.restore(attempt, config.keep());
      return Optional.empty();
    }
    Optional<Instant> back =
        informers.restoresOf(namespace(attempt), attempt.name()).stream()
            .filter(restore -> attempt.restore().get().equals(restore.getMetadata().getName()))
            .flatMap(
                restore -> PhaseLog.of(restore.getStatus()).last(RestorePhase.SUCCEEDED).stream())
            .findFirst();
    return back.flatMap(time -> cleared(attempt, time));
  }

  /** The pod keeps running, or is evicted without a checkpoint; another attempt may follow. */
  private Optional<Instant> failed(EvictionAttempt attempt) {
    Instant quiet = attempt.requested().plus(config.givenUpAfter());
    if (clock.instant().isBefore(quiet)) {
      return Optional.of(quiet);
    }
    Optional<Pod> pod = pod(attempt);
    // A later attempt uses them.
    boolean last = pod.map(it -> isLast(attempt, it)).orElse(true);
    if (last) {
      budgets.delete(namespace(attempt), podUid(attempt));
      pod.ifPresent(budgets::unlabel);
      pod.ifPresent(attempts::unannotate);
    }
    return Conditions.of(attempt.checkpoint().getStatus()).mayBeRestored()
        ? Optional.empty()
        : cleared(attempt, quiet);
  }

  private boolean isLast(EvictionAttempt attempt, Pod pod) {
    List<EvictionAttempt> all = attempts.of(pod);
    return all.isEmpty() || all.get(all.size() - 1).name().equals(attempt.name());
  }

  private Optional<Instant> atWork(EvictionAttempt attempt) {
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
          "its eviction was not requested again within %ds: the pod keeps running"
              .formatted(config.givenUpAfter().toSeconds());
      events.normal(attempt.checkpoint(), Reason.EVICTION_GIVEN_UP, sentence, "given up");
      pod(attempt)
          .ifPresent(pod -> events.normal(pod, Reason.EVICTION_GIVEN_UP, sentence, attempt.name()));
    }
    return Optional.empty();
  }

  private Optional<Instant> cleared(EvictionAttempt attempt, Instant over) {
    Instant end = over.plus(config.keep());
    if (clock.instant().isBefore(end)) {
      return Optional.of(end);
    }
    attempts.delete(attempt);
    return Optional.empty();
  }

  private Optional<Pod> pod(EvictionAttempt attempt) {
    return informers
        .pod(namespace(attempt), attempt.checkpoint().getSpec().podName())
        .filter(pod -> pod.getMetadata().getUid().equals(podUid(attempt)));
  }

  private Duration until(Instant time) {
    Duration left = Duration.between(clock.instant(), time);
    return left.isNegative() ? Duration.ZERO : left.plusMillis(1);
  }

  private static String namespace(EvictionAttempt attempt) {
    return attempt.checkpoint().getMetadata().getNamespace();
  }

  /** Every checkpoint of this reconciler has the label. */
  private static String podUid(EvictionAttempt attempt) {
    return attempt.checkpoint().getMetadata().getLabels().getOrDefault(Api.EVICTION_LABEL, "");
  }
}
