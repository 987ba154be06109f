package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.OperationControl;
import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.operation.FreezeOrder;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.trace.SpanContext;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One operation that this agent has claimed. */
final class Assignment {

  private final AtomicReference<JournalEntry> entry;
  private final Clock clock;
  private final OperationControl control;
  private final StatusReport report;
  private final CompletableFuture<Void> cancelled = new CompletableFuture<>();
  private final StepLog steps = new StepLog();
  private volatile @Nullable SpanContext parent;
  private volatile @Nullable FreezeHooks hooks;
  private volatile boolean byRollout;

  Assignment(Clock clock, JournalEntry entry, GpuNodeOperationStatus said) {
    this.clock = clock;
    this.entry = new AtomicReference<>(entry);
    this.report = new StatusReport(clock, said);
    this.control =
        OperationControl.until(
            clock,
            entry.claimed().plus(entry.spec().getDeadline().duration()),
            maxFrozen(entry.spec()));
  }

  private static @Nullable Duration maxFrozen(GpuNodeOperationSpec spec) {
    FreezeOrder freeze = spec.getFreeze();
    return freeze == null || freeze.getMaxFrozen() == null
        ? null
        : freeze.getMaxFrozen().duration();
  }

  Instant now() {
    return clock.instant();
  }

  String name() {
    return entry().name();
  }

  String uid() {
    return entry().uid();
  }

  GpuNodeOperationSpec spec() {
    return entry().spec();
  }

  OperationType type() {
    return spec().getType();
  }

  JournalEntry entry() {
    return Objects.requireNonNull(entry.get());
  }

  void entry(JournalEntry next) {
    entry.set(next);
  }

  OperationControl control() {
    return control;
  }

  /** What the engine has begun of it, for its trace. */
  StepLog steps() {
    return steps;
  }

  /** The span of which those of this operation are a part, when the operator has named one. */
  Optional<SpanContext> parent() {
    return Optional.ofNullable(parent);
  }

  /** Reads it. */
  Assignment tracedAs(GpuNodeOperation operation) {
    Map<String, String> annotations = operation.getMetadata().getAnnotations();
    String named = annotations == null ? null : annotations.get(Api.TRACEPARENT_ANNOTATION);
    parent = named == null ? null : SpanContext.parse(named).orElse(null);
    return this;
  }

  StatusReport report() {
    return report;
  }

  Instant deadline() {
    return entry().claimed().plus(spec().getDeadline().duration());
  }

  /** For whom, as people read it. */
  String owner() {
    return spec().getRequester().kind()
        + " "
        + Optional.ofNullable(spec().getRequester().namespace()).map(n -> n + "/").orElse("")
        + spec().getRequester().name();
  }

  /** Asks it to stop at its next step. */
  void cancel(String who) {
    control.cancel(who);
    cancelled.complete(null);
  }

  /** Asks it to stop at its next step since this agent goes; its successor knows no more of it. */
  void rollOut() {
    byRollout = true;
    cancel("the end of the agent");
  }

  boolean isRolledOut() {
    return byRollout;
  }

  /** Whether somebody asked it to stop within {@code limit}. */
  boolean awaitCancel(Duration limit) throws InterruptedException {
    try {
      cancelled.get(limit.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException | ExecutionException notYet) {
      return false;
    }
  }

  boolean isCancelled() {
    return cancelled.isDone();
  }

  /** Completes when it is asked to stop. */
  CompletableFuture<Void> cancelled() {
    return cancelled;
  }

  /** Its hooks; empty when none have begun. */
  Optional<FreezeHooks> hooks() {
    return Optional.ofNullable(hooks);
  }

  void hooks(FreezeHooks begun) {
    hooks = begun;
  }
}
