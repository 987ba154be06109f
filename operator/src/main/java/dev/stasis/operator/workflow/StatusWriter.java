package dev.stasis.operator.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import dev.stasis.operator.cluster.StaleWrites;
import dev.stasis.operator.status.Change;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.status.ErrorStatus;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Writes the status of a request once per reconciliation, if it changed. Progress waits for an
 * interval, and is written with what follows meanwhile. The status never overwrites a change of the
 * object that was not observed.
 *
 * @param <R> the kind
 * @param <S> its status
 */
public final class StatusWriter<R extends CustomResource<?, S>, S extends ConditionedStatus> {

  /**
   * When an object is observed again after its status could not be written: the change is in the
   * cache by then, and a change of an annotation triggers no reconciliation.
   */
  private static final Duration OVERTAKEN = Duration.ofSeconds(1);

  private final Supplier<S> emptyStatus;
  private final Changes changes;
  private final Duration progressInterval;
  private final Clock clock;

  /** Since when the status of an object has been waiting to be written, by uid. */
  private final Map<String, Instant> waiting = new ConcurrentHashMap<>();

  /**
   * @param progressInterval how long progress alone waits
   */
  public StatusWriter(
      Supplier<S> emptyStatus, Changes changes, Duration progressInterval, Clock clock) {
    this.emptyStatus = emptyStatus;
    this.changes = changes;
    this.progressInterval = progressInterval;
    this.clock = clock;
  }

  /** Returns the status as it was read; empty, and sets an empty one, if there is none. */
  public Optional<JsonNode> read(R request) {
    if (request.getStatus() == null) {
      request.setStatus(emptyStatus.get());
      return Optional.empty();
    }
    return Optional.of(changes.tree(request.getStatus()));
  }

  /**
   * Writes the status after a reconciliation.
   *
   * @param before the status as it was read
   * @param mayWait how long a change of substance may wait
   * @param requeueAfter when the object is observed again in any case; empty if only after a change
   */
  public UpdateControl<R> write(
      R request,
      Optional<JsonNode> before,
      Duration mayWait,
      Optional<Duration> requeueAfter,
      Context<R> context) {
    ErrorStatus.clear(request.getStatus());
    Change change = change(request, before);
    Optional<Duration> wait =
        switch (change) {
          case NONE -> Optional.empty();
          case PROGRESS -> left(request, progressInterval);
          case SUBSTANCE -> left(request, mayWait);
        };
    if (wait.isEmpty()) {
      waiting.remove(uid(request));
    }
    if (change != Change.NONE && wait.isEmpty()) {
      wait = put(request, context) ? Optional.empty() : Optional.of(OVERTAKEN);
    }
    UpdateControl<R> control = UpdateControl.noUpdate();
    earlier(requeueAfter, wait).ifPresent(control::rescheduleAfter);
    return control;
  }

  /** Writes the status of an object that is being deleted, if its substance changed. */
  public void writeDeleted(R request, Optional<JsonNode> before, Context<R> context) {
    if (change(request, before) == Change.SUBSTANCE) {
      put(request, context);
    }
  }

  /** Removes the state of a finished object. */
  public void forget(R request) {
    waiting.remove(uid(request));
  }

  private Change change(R request, Optional<JsonNode> before) {
    return before
        .map(it -> changes.between(it, Objects.requireNonNull(request.getStatus())))
        .orElse(Change.SUBSTANCE);
  }

  /**
   * Returns whether the status is written: not if the object has changed since it was observed. The
   * SDK's own patch has no resource version and would mix the lists of two writers.
   */
  private boolean put(R request, Context<R> context) {
    try {
      context
          .resourceOperations()
          .resourcePatch(
              request,
              it -> context.getClient().resource(it).lockResourceVersion().updateStatus(),
              context.eventSourceRetriever().getControllerEventSource());
      return true;
    } catch (KubernetesClientException e) {
      if (!StaleWrites.isStale(e)) {
        throw e;
      }
      return false;
    }
  }

  /** Returns how much longer a changed status waits; empty if it is written now. */
  private Optional<Duration> left(R request, Duration wait) {
    if (wait.isZero()) {
      return Optional.empty();
    }
    Instant now = clock.instant();
    Instant due = waiting.computeIfAbsent(uid(request), uid -> now).plus(wait);
    Duration left = Duration.between(now, due);
    return left.isNegative() || left.isZero() ? Optional.empty() : Optional.of(left);
  }

  private static String uid(CustomResource<?, ?> request) {
    return request.getMetadata().getUid();
  }

  private static Optional<Duration> earlier(Optional<Duration> one, Optional<Duration> other) {
    return one.isPresent() && other.isPresent()
        ? Optional.of(one.get().compareTo(other.get()) < 0 ? one.get() : other.get())
        : one.or(() -> other);
  }
}
