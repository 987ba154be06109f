package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Thaws or ends a frozen source, with operations that are retried. */
final class FrozenSource {

  /** Before the first retry: the usual cause is that the agent has not seen a change yet. */
  private static final Duration FIRST = Duration.ofSeconds(1);

  private static final int SLOWEST = 30;

  /**
   * Maximum retries of a failed operation, with growing waits. Thaws continue after that, at long
   * intervals.
   */
  private static final int TRIES = 10;

  /** Each attempt is an object, and users were informed long before. */
  private static final Duration SELDOM = Duration.ofMinutes(10);

  private final MigrationOperations operations;

  FrozenSource(MigrationOperations operations) {
    this.operations = operations;
  }

  private Progress.Due create(
      MigrationContext context, OperationType type, int number, OperationView freeze) {
    return Progress.Due.of(
        () -> operations.create(context, number, operations.orders().decided(type, freeze)));
  }

  /** Returns the next End: the first, or one after a failed one; empty while none is due. */
  Optional<Progress.Due> nextEnd(MigrationContext context, OperationView freeze) {
    Optional<OperationView> end = context.work().last(OperationType.END);
    // The operation may have been created before the agent has seen the pod's deletion.
    boolean due =
        end.isEmpty()
            || (end.get().isFinal() && !end.get().succeeded() && isDue(end.get(), context.now()));
    int number = end.map(OperationView::number).orElse(0) + 1;
    return due ? Optional.of(create(context, OperationType.END, number, freeze)) : Optional.empty();
  }

  /**
   * Returns whether a failed operation may be retried: the wait grows with the number of failures.
   */
  private static boolean isDue(OperationView failed, Instant now) {
    return !failed
        .entered()
        .plus(FIRST.multipliedBy(Math.min(SLOWEST, failed.number())))
        .isAfter(now);
  }

  /** Thaws it until it runs, or cannot run. */
  Progress thaw(MigrationContext context, OperationView freeze) {
    if (freeze.isFinal()) {
      return ended(context, freeze);
    }
    if (context.sourceAgent().map(NodeAgent::nodeGone).orElse(false)) {
      String node = freeze.node();
      return new Progress.Lost(
          Reason.NODE_GONE, "node " + node + " is gone, and the workload with it");
    }
    if (freeze.phase() != OperationPhase.HELD) {
      return freeze.isCancelled()
          ? silentOr(context, "the freeze is being rolled back")
          : Progress.Due.of(() -> operations.cancel(freeze));
    }
    Optional<String> lost = context.sourceLost();
    return lost.isPresent() ? end(context, freeze, lost.get()) : thawHeld(context, freeze);
  }

  private static Progress ended(MigrationContext context, OperationView freeze) {
    Outcome outcome = freeze.outcome().orElse(Outcome.UNDONE);
    boolean wasEnded =
        context.work().last(OperationType.END).filter(OperationView::succeeded).isPresent();
    if (wasEnded) {
      return new Progress.Lost(
          Reason.SOURCE_LOST, context.sourceLost().orElse("the source was ended"));
    }
    return switch (outcome) {
      case DONE, REFUSED, UNDONE -> new Progress.Done();
      case LOST -> new Progress.Lost(Reason.WORKLOAD_LOST, freeze.message());
      case NOT_UNDONE -> leftFrozen(context, freeze);
      case UNRECOGNIZED -> throw new IllegalStateException("outcome: not final, see OperationView");
    };
  }

  /** The agent retries the thaw until it runs, or no longer exists. */
  private static Progress leftFrozen(MigrationContext context, OperationView freeze) {
    if (freeze.workload() == WorkloadState.RUNNING) {
      return new Progress.Done();
    }
    Optional<String> lost = context.sourceLost();
    if (lost.isPresent()) {
      return new Progress.Lost(Reason.SOURCE_LOST, lost.get());
    }
    if (freeze.workload() == WorkloadState.ENDED) {
      return new Progress.Lost(Reason.WORKLOAD_LOST, freeze.message());
    }
    if (context.isSourceGivenUp() || !freeze.isLeftFrozen()) {
      return new Progress.Lost(Reason.OPERATION_FAILED, freeze.message());
    }
    return new Progress.Waiting(
        Reason.NOT_THAWED,
        "the source is still frozen, and its agent retries until it runs: " + freeze.message());
  }

  private Progress thawHeld(MigrationContext context, OperationView freeze) {
    Optional<OperationView> found = context.work().last(OperationType.THAW);
    if (found.isEmpty()) {
      return create(context, OperationType.THAW, 1, freeze);
    }
    OperationView thaw = found.get();
    if (thaw.succeeded()) {
      return new Progress.Done();
    }
    if (!thaw.isFinal()) {
      return silentOr(context, "the source is being thawed");
    }
    if (thaw.ended(Outcome.LOST)) {
      return new Progress.Lost(Reason.WORKLOAD_LOST, thaw.message());
    }
    // A refused thaw says nothing about the workload: it is held until one succeeds.
    int number = thaw.number();
    Instant now = number < TRIES ? context.now() : context.now().minus(SELDOM);
    return isDue(thaw, now)
        ? create(context, OperationType.THAW, number + 1, freeze)
        : new Progress.Waiting(
            Reason.NOT_THAWED, "the source is still frozen, retrying the thaw: " + thaw.message());
  }

  /** It can never run: the remaining processes are ended, so that they never wake up. */
  private Progress end(MigrationContext context, OperationView freeze, String lost) {
    Optional<OperationView> end = context.work().last(OperationType.END);
    int number = end.map(OperationView::number).orElse(0);
    boolean due = end.isEmpty() || (end.get().isFinal() && isDue(end.get(), context.now()));
    if (context.isSourceGivenUp()
        || end.filter(OperationView::succeeded).isPresent()
        || (due && number >= TRIES)) {
      return new Progress.Lost(Reason.SOURCE_LOST, lost);
    }
    return due
        ? create(context, OperationType.END, number + 1, freeze)
        : silentOr(context, "the frozen source is ended");
  }

  private static Progress silentOr(MigrationContext context, String message) {
    return context
        .sourceAgent()
        .flatMap(NodeAgent::silent)
        .map(why -> new Progress.Waiting(Reason.NODE_SILENT, why))
        .orElseGet(() -> new Progress.Waiting(Reason.IN_PROGRESS, message));
  }
}
