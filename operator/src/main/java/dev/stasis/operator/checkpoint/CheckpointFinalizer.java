package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Undoes a GpuCheckpoint that is deleted: ends its operations, waits until a frozen workload runs,
 * resumes a suspended one, lowers the memory limit, returns the pod to its Job, and deletes the
 * artifact.
 */
final class CheckpointFinalizer {

  /** Operations that are canceled; the others resume or end a workload, and are waited for. */
  private static final Set<OperationType> CANCELABLE =
      EnumSet.of(
          OperationType.CHECKPOINT,
          OperationType.SUSPEND,
          OperationType.IMPORT,
          OperationType.UPLOAD,
          OperationType.VERIFY);

  private final CheckpointOperations operations;
  private final EvictSource evict;
  private final EndFrozenSource end;
  private final PostResumeCleanup cleanup;
  private final ThawFollowUp thaw;
  private final ArtifactRemoval artifacts;

  CheckpointFinalizer(
      CheckpointOperations operations,
      EvictSource evict,
      EndFrozenSource end,
      PostResumeCleanup cleanup,
      ThawFollowUp thaw) {
    this.operations = operations;
    this.evict = evict;
    this.end = end;
    this.cleanup = cleanup;
    this.thaw = thaw;
    this.artifacts = new ArtifactRemoval(operations);
  }

  /** Ends every operation that is not finished, all at once: a workload may be frozen by one. */
  Progress endOperations(CheckpointContext context) {
    List<OperationView> open =
        context.operations().stream().filter(operation -> !operation.isFinal()).toList();
    return open.isEmpty()
        ? new Progress.Done()
        : due(context, () -> open.forEach(operation -> end(context, operation)));
  }

  private void end(CheckpointContext context, OperationView operation) {
    NodeAgent agent = context.agent(operation);
    if (isGivenUp(context, agent)) {
      operations.abandon(operation);
      released(context, agent, "operation " + operation.name());
      context.requeueAfter(context.config().progressEvery());
    } else if (!CANCELABLE.contains(operation.type())) {
      return;
    } else if (!operation.isClaimed()) {
      operations.withdraw(operation);
      context.requeueAfter(context.config().progressEvery());
    } else if (operation.phase() == OperationPhase.HELD) {
      FreezeStep step = context.isPodLeaving() ? end : evict;
      step.run(context, attempt(operation), operation);
    } else if (!operation.isCancelled()) {
      operations.cancel(operation);
      context
          .reporter()
          .normal(Reason.CANCELLED, "deleted while in progress: rolling back", "undone");
    }
  }

  /** Waits for the agent that could not thaw the workload. */
  Progress awaitThaw(CheckpointContext context) {
    return leftFrozen(context)
        .filter(freeze -> thaw.isPossible(context, freeze, deleted(context)))
        .<Progress>map(
            freeze -> due(context, () -> thaw.isWaitedFor(context, freeze, deleted(context))))
        .orElseGet(Progress.Done::new);
  }

  private static Optional<OperationView> leftFrozen(CheckpointContext context) {
    return context.operations().stream().filter(OperationView::isLeftFrozen).findFirst();
  }

  /** Resumes the workload, if it is suspended. */
  Progress resume(CheckpointContext context) {
    Optional<OperationView> suspended = suspended(context);
    if (suspended.isEmpty() || isGivenUp(context, context.agent(suspended.get()))) {
      return new Progress.Done();
    }
    FreezeAttempt attempt = attempt(suspended.get());
    Optional<OperationView> resume = context.operation(OperationType.RESUME, attempt.number());
    boolean over =
        resume.filter(it -> it.succeeded() || it.workload() == WorkloadState.ENDED).isPresent();
    return over ? new Progress.Done() : due(context, () -> resume(context, attempt, resume));
  }

  /** Returns the freeze whose workload is suspended; empty if there is none, or no pod. */
  private static Optional<OperationView> suspended(CheckpointContext context) {
    return context.pod().isEmpty() || leftFrozen(context).isPresent()
        ? Optional.empty()
        : context
            .freezes()
            .filter(freeze -> freeze.workload() == WorkloadState.SUSPENDED)
            .max(Comparator.comparingInt(OperationView::number));
  }

  private void resume(
      CheckpointContext context, FreezeAttempt attempt, Optional<OperationView> resume) {
    CheckpointReporter reporter = context.reporter();
    TimeSliceScheduler slices = new TimeSliceScheduler(context);
    if (resume.isPresent()) {
      String why = resume.get().message("it failed");
      reporter.warning(
          Reason.OPERATION_FAILED, "could not be resumed: " + why, resume.get().name());
      operations.retry(context, resume.get(), deleted(context));
    } else if (slices.isOn() && !slices.verdict().runs()) {
      reporter.normal(
          Reason.WAITS_FOR_TURN,
          "deleted while suspended: it is resumed when its GPU is free",
          "turn");
    } else {
      operations.follow(context, OperationType.RESUME, attempt);
      reporter.normal(
          Reason.IN_PROGRESS, "deleted while suspended: it is resumed first", "resumed");
    }
  }

  /**
   * Returns to the pod its memory limit and its Job, and deletes the artifact, once every step is
   * undone.
   *
   * @return whether the object can be removed
   */
  boolean release(CheckpointContext context) {
    prepare(context);
    Optional<OperationView> leftFrozen = leftFrozen(context);
    if (leftFrozen.isPresent()) {
      thaw.isWaitedFor(context, leftFrozen.get(), deleted(context));
    } else {
      suspended(context)
          .map(context::agent)
          .filter(agent -> isGivenUp(context, agent))
          .ifPresent(agent -> released(context, agent, "the suspended workload"));
      context.reporter().notFrozen(Reason.RESUMED, "the GpuCheckpoint is deleted");
    }
    // A Job that has released the pod would otherwise start a second copy beside it.
    lastFreeze(context)
        .filter(freeze -> freeze.workload() == WorkloadState.RUNNING)
        .ifPresentOrElse(freeze -> cleanup.run(context, freeze), () -> cleanup.lowerLimit(context));
    if (!artifacts.run(context)) {
      return false;
    }
    context.operations().forEach(operations::release);
    return true;
  }

  private Progress due(CheckpointContext context, Runnable undo) {
    return new Progress.Due(
        () -> {
          prepare(context);
          undo.run();
          return context.reported();
        });
  }

  /** Copies the report of the last freeze, which may have ended since the status was written. */
  private static void prepare(CheckpointContext context) {
    context.poll();
    lastFreeze(context).ifPresent(context.updater()::copyFrom);
  }

  private static Optional<OperationView> lastFreeze(CheckpointContext context) {
    return context.freezes().max(Comparator.comparingInt(OperationView::number));
  }

  private static FreezeAttempt attempt(OperationView freeze) {
    return new FreezeAttempt(freeze.type(), freeze.number(), true);
  }

  static boolean isGivenUp(CheckpointContext context, NodeAgent agent) {
    return agent.isGivenUp(deleted(context), context.config().orphanAfter(), context.now());
  }

  /** Reports that the object is removed without a part of its undo. */
  static void released(CheckpointContext context, NodeAgent agent, String what) {
    String why =
        agent.nodeGone()
            ? "node " + agent.node() + " is gone"
            : agent.against().orElse("its agent is silent");
    context.reporter().warning(Reason.RELEASED, what + " is released: " + why, "released/" + what);
  }

  /** Returns when the object was deleted. */
  static Instant deleted(CheckpointContext context) {
    return Instant.parse(
        Objects.requireNonNull(
            context.object().getMetadata().getDeletionTimestamp(), "it is deleted"));
  }
}
