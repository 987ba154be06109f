package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.OperationControl;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.trace.SpanContext;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jboss.logmanager.MDC;
import org.jspecify.annotations.Nullable;

/** An operation that this agent has claimed. */
final class ActiveOperation {

  private static final String STEP = "step";

  private final AtomicReference<OperationJournal.Entry> entry;
  private final Clock clock;
  private final OperationControl control;
  private final OperationJson json = new OperationJson();
  private final GpuNodeOperationStatus status;
  private final CompletableFuture<Void> cancelled = new CompletableFuture<>();
  private final List<StartedStep> steps = new ArrayList<>();
  private volatile @Nullable SpanContext parent;
  private volatile @Nullable FreezeHooks hooks;
  private volatile boolean byRollout;

  ActiveOperation(Clock clock, OperationJournal.Entry entry, GpuNodeOperationStatus said) {
    this.clock = clock;
    this.entry = new AtomicReference<>(entry);
    this.status = json.copy(said);
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

  /** Returns the id of its container; an id that no container has if none was found. */
  String containerId() {
    return Objects.requireNonNullElse(status().getContainerId(), "none-was-found");
  }

  GpuNodeOperationSpec spec() {
    return entry().spec();
  }

  /** Returns its pod, which its type has. */
  OperationPod pod() {
    return Objects.requireNonNull(spec().getPod());
  }

  /** Returns its artifact, which its type has. */
  ArtifactReference artifact() {
    return Objects.requireNonNull(spec().getArtifact());
  }

  OperationType type() {
    return spec().getType();
  }

  OperationJournal.Entry entry() {
    return Objects.requireNonNull(entry.get());
  }

  void entry(OperationJournal.Entry next) {
    entry.set(next);
  }

  OperationControl control() {
    return control;
  }

  /** A step of the engine, and its start time. */
  record StartedStep(String step, Instant at) {}

  /** Values for the trace of a starting step; a step may start more than once. */
  void begins(String step) {
    synchronized (steps) {
      steps.add(new StartedStep(step, now()));
    }
    var unused = MDC.put(STEP, step);
  }

  /** Returns the steps in the order of their starts. */
  List<StartedStep> steps() {
    synchronized (steps) {
      return List.copyOf(steps);
    }
  }

  /** Adds the fields of this operation to each log line of this thread until it is closed. */
  LogFields logFields(String node) {
    ObjectReference requester = spec().getRequester();
    Map<String, String> fields =
        Map.of(
            "namespace",
            Objects.requireNonNullElse(requester.namespace(), ""),
            "name",
            String.valueOf(requester.name()),
            "uid",
            String.valueOf(requester.uid()),
            "operation",
            name(),
            "node",
            node);
    fields.forEach(MDC::put);
    return () -> {
      fields.keySet().forEach(MDC::remove);
      MDC.remove(STEP);
    };
  }

  /** Removes the fields again. */
  interface LogFields extends AutoCloseable {
    @Override
    void close();
  }

  /** Returns the parent of this operation's trace spans, if the operator has set one. */
  Optional<SpanContext> parent() {
    return Optional.ofNullable(parent);
  }

  /** Takes the parent span from the annotation of the operation. */
  ActiveOperation tracedAs(GpuNodeOperation operation) {
    Map<String, String> annotations = operation.getMetadata().getAnnotations();
    String named = annotations == null ? null : annotations.get(Api.TRACEPARENT_ANNOTATION);
    parent = named == null ? null : SpanContext.parse(named).orElse(null);
    return this;
  }

  /** Changes the status; the recorder publishes it. */
  synchronized void change(Consumer<GpuNodeOperationStatus> change) {
    change.accept(status);
  }

  /**
   * Runs an action during which {@link #status} blocks, so that a reader sees all of its changes or
   * none.
   */
  synchronized void atomically(Runnable changes) {
    changes.run();
  }

  /** Returns a copy of the status, without control characters in human-readable text. */
  synchronized GpuNodeOperationStatus status() {
    return json.printable(status);
  }

  /**
   * Enters a phase, through an intermediate one if necessary.
   *
   * @throws IllegalStateException if that phase cannot follow
   */
  synchronized void enter(OperationPhase phase) {
    OperationPhase now = Objects.requireNonNullElse(status.getPhase(), OperationPhase.PENDING);
    if (now == phase) {
      return;
    }
    if (!now.successors().contains(phase)) {
      OperationPhase between =
          switch (phase) {
            case SUCCEEDED, HELD -> OperationPhase.RUNNING;
            case CANCELLED -> OperationPhase.UNDOING;
            default ->
                throw new IllegalStateException("phase: after %s no %s".formatted(now, phase));
          };
      enter(between);
    }
    Instant second = clock.instant().truncatedTo(ChronoUnit.SECONDS);
    List<PhaseTime<OperationPhase>> all =
        new ArrayList<>(Objects.requireNonNullElse(status.getPhases(), List.of()));
    all.add(new PhaseTime<>(phase, second));
    status.setPhases(all);
    status.setPhase(phase);
  }

  Instant deadline() {
    return entry().claimed().plus(spec().getDeadline().duration());
  }

  /** Returns the requester in human-readable form. */
  String owner() {
    return spec().getRequester().kind()
        + " "
        + Optional.ofNullable(spec().getRequester().namespace()).map(n -> n + "/").orElse("")
        + spec().getRequester().name();
  }

  /** Cancels it at its next step. */
  void cancel(String who) {
    control.cancel(who);
    cancelled.complete(null);
  }

  /** Stops it at its next step because this agent is stopping; the successor continues it. */
  void rollOut() {
    byRollout = true;
    cancel("the end of the agent");
  }

  boolean isRolledOut() {
    return byRollout;
  }

  /** Waits for a cancel, at most {@code limit}; returns whether there was one. */
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

  /** Completes when it is canceled or stopped. */
  CompletableFuture<Void> cancelled() {
    return cancelled;
  }

  /** Its hooks; null if none have started. */
  Optional<FreezeHooks> hooks() {
    return Optional.ofNullable(hooks);
  }

  void hooks(FreezeHooks begun) {
    hooks = begun;
  }
}
