package dev.stasis.agent.daemon.operation;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.agent.engine.OperationControl;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.trace.SpanContext;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An operation that this agent has claimed. */
final class ActiveOperation {

  private final GpuNodeOperation operation = new GpuNodeOperation();
  private final Claim claim;
  private final Clock clock;
  private final OperationControl control;
  private final OperationJson json = new OperationJson();
  private GpuNodeOperationStatus status;
  private final CompletableFuture<Void> cancelled = new CompletableFuture<>();
  private final List<StartedStep> steps = new ArrayList<>();
  private final @Nullable SpanContext parent;
  private volatile OperationStage stage;
  private volatile @Nullable FreezeHooks hooks;
  private volatile boolean byRollout;
  private volatile @Nullable String fault;

  ActiveOperation(Clock clock, GpuNodeOperation claimed, OperationStage stage) {
    ObjectMeta metadata = claimed.getMetadata();
    this.clock = clock;
    this.stage = stage;
    this.status = json.copy(claimed.getStatus());
    this.claim = Objects.requireNonNull(status.getClaimedBy());
    operation.setMetadata(
        new ObjectMetaBuilder()
            .withName(metadata.getName())
            .withUid(metadata.getUid())
            .withCreationTimestamp(metadata.getCreationTimestamp())
            .withAnnotations(metadata.getAnnotations())
            .build());
    operation.setSpec(claimed.getSpec());
    operation.setStatus(status);
    Map<String, String> annotations = metadata.getAnnotations();
    String named = annotations == null ? null : annotations.get(Api.TRACEPARENT_ANNOTATION);
    this.parent = named == null ? null : SpanContext.parse(named).orElse(null);
    this.control = OperationControl.until(clock, deadline(), maxFrozen(spec()));
  }

  /**
   * Returns an operation that a predecessor claimed, and possibly started.
   *
   * @throws RuntimeException if it is not a claimed operation
   */
  static ActiveOperation recovered(Clock clock, GpuNodeOperation operation) {
    return new ActiveOperation(
        clock, operation, OperationStage.recovered(operation.getStatus().getPhase()));
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
    return operation.getMetadata().getName();
  }

  String uid() {
    return operation.getMetadata().getUid();
  }

  /** Returns its creation time, which determines the order of the queue. */
  Instant created() {
    return Instant.parse(operation.getMetadata().getCreationTimestamp());
  }

  /** Returns the time of its claim, from which its deadline counts. */
  Instant claimed() {
    return claim.time();
  }

  /** Returns whether it was claimed in that boot; the processes of another one are gone. */
  boolean isOfBoot(String bootId) {
    return claim.bootId() == null || claim.bootId().equals(bootId);
  }

  /** Returns the id of its container; an id that no container has if none was found. */
  String containerId() {
    return Objects.requireNonNullElse(status().getContainerId(), "none-was-found");
  }

  GpuNodeOperationSpec spec() {
    return operation.getSpec();
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

  /** Returns whether it is one that the journal of a container describes. */
  boolean isJournaled() {
    return spec().getFreeze() != null || type() == OperationType.RESTORE;
  }

  /** Returns whether only a Thaw or an End thaws or ends it. */
  boolean isHeldUntilDecided() {
    FreezeOrder freeze = spec().getFreeze();
    return freeze != null && freeze.getHeldUntilDecided();
  }

  OperationStage stage() {
    return stage;
  }

  void stage(OperationStage next) {
    stage = next;
  }

  /** Returns the fault of this agent that prevented its end; null if there was none. */
  @Nullable String fault() {
    return fault;
  }

  /** Records a fault of this agent, which ends it later. */
  void fault(String why) {
    fault = why;
  }

  /** Returns whether it is finished and has left its workload frozen. */
  boolean leftFrozen() {
    return stage == OperationStage.ENDED && leftFrozen(spec(), status());
  }

  /**
   * The same for an operation in the API server. A successful suspend is intended, and a held
   * operation is not finished.
   */
  static boolean leftFrozen(GpuNodeOperationSpec spec, GpuNodeOperationStatus status) {
    return spec.getFreeze() != null
        && status.getPhase() == OperationPhase.FAILED
        && status.getOutcome() == Outcome.NOT_UNDONE
        && (status.getWorkload() == WorkloadState.FROZEN
            || status.getWorkload() == WorkloadState.UNKNOWN);
  }

  /** Returns it as a journal describes it. */
  synchronized JsonNode description() {
    return json.tree(operation);
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
    OperationLogFields.step(step);
  }

  /** Returns the steps in the order of their starts. */
  List<StartedStep> steps() {
    synchronized (steps) {
      return List.copyOf(steps);
    }
  }

  /** Returns the parent of this operation's trace spans, if the operator has set one. */
  Optional<SpanContext> parent() {
    return Optional.ofNullable(parent);
  }

  /**
   * Changes the status; the recorder publishes it. {@link #status} blocks meanwhile, so that a
   * reader sees all of the changes or none.
   */
  synchronized void change(Consumer<GpuNodeOperationStatus> change) {
    change.accept(status);
  }

  /** Replaces the status by one that this agent has not written. */
  synchronized void replaceStatus(GpuNodeOperationStatus other) {
    status = other;
    operation.setStatus(other);
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
    return claimed().plus(spec().getDeadline().duration());
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

  boolean isOverdue() {
    return now().isAfter(deadline());
  }

  /**
   * Does nothing while it may continue.
   *
   * @param when when it would end, for the message: {@code before the freeze}
   * @throws Job.Stopped if it was canceled, or its deadline has passed
   */
  void requireTime(String when) throws Job.Stopped {
    if (isCancelled()) {
      throw new Job.Stopped("cancelled " + when, false);
    }
    if (isOverdue()) {
      throw new Job.Stopped("the deadline passed " + when, true);
    }
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
