package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.TimeToLive;
import dev.stasis.operator.workflow.Progress;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Observes a finished migration: lowers a raised memory limit, ends or thaws a frozen source on a
 * returned node, deletes its operations, and deletes it after its time to live.
 */
@Singleton
class FinishedMigration {

  /** The operations that carry out the decision about a frozen source. */
  private static final Set<OperationType> DECIDED = Set.of(OperationType.THAW, OperationType.END);

  private final MigrationOperations operations;
  private final MigrationHeadroom headroom;
  private final FrozenSource frozen;
  private final MigrationReporter reporter;
  private final KubernetesClient client;
  private final StasisConfig config;

  FinishedMigration(
      MigrationOperations operations,
      MigrationHeadroom headroom,
      MigrationReporter reporter,
      KubernetesClient client,
      StasisConfig config) {
    this.operations = operations;
    this.headroom = headroom;
    this.frozen = new FrozenSource(operations);
    this.reporter = reporter;
    this.client = client;
    this.config = config;
  }

  /** Returns when it is observed again; empty if only after a change. */
  Optional<Duration> observe(MigrationContext context) {
    return tidy(context) ? expire(context) : Optional.of(config.lookAgainEvery());
  }

  /** Returns whether nothing is left to do. */
  boolean tidy(MigrationContext context) {
    boolean lowered = headroom.lower(context);
    if (reportsThaw(context)) {
      return false;
    }
    Optional<OperationView> held = context.work().freeze().filter(it -> !it.isFinal());
    boolean open = false;
    for (OperationView operation : context.work().all()) {
      if (!operation.isFinal()) {
        open = true;
      } else if (!isNeeded(operation, lowered, held.isPresent())) {
        operations.all().release(operation.operation());
      }
    }
    held.flatMap(freeze -> late(context, freeze)).ifPresent(Progress.Due::run);
    return lowered && !open;
  }

  /** Returns whether a finished operation is still read. */
  private static boolean isNeeded(OperationView operation, boolean lowered, boolean held) {
    if (DECIDED.contains(operation.type())) {
      // The next Thaw or End has the next number, and a longer wait.
      return held;
    }
    // The inspection has the original pod, which contains the old limit. That of a source that may
    // still be thawed is lowered after the thaw.
    return (!lowered || held) && operation.type() == OperationType.CHECKPOINT;
  }

  /**
   * Reports that a source runs that was given up; its operation, which says so, is deleted only
   * once that is written.
   */
  private boolean reportsThaw(MigrationContext context) {
    boolean runs =
        context.phase() == MigrationPhase.FAILED
            && context
                .work()
                .freeze()
                .filter(it -> it.isFinal() && it.workload() == WorkloadState.RUNNING)
                .isPresent();
    if (!runs || Conditions.of(context.status()).isTrue(ConditionType.SOURCE_RUNNING)) {
      return false;
    }
    String sentence = "the source was thawed after the migration had failed; the workload runs";
    context
        .updater()
        .also(ConditionType.SOURCE_RUNNING, ConditionValue.TRUE, Reason.THAWED, sentence);
    Room room = context.status().getRoom();
    if (room != null && room.originalLimit() != null) {
      context
          .updater()
          .roomReturned(false, "the memory limit of the source is to be lowered again");
    }
    reporter.mark(context);
    reporter.normal(context, Reason.THAWED, sentence, "thawed");
    return true;
  }

  /** A node that was not waited for is back: a remaining frozen source is ended, or thawed. */
  private Optional<Progress.Due> late(MigrationContext context, OperationView freeze) {
    if (context.sourceAgent().map(NodeAgent::isAway).orElse(true)) {
      return Optional.empty();
    }
    if (context.phase() == MigrationPhase.SUCCEEDED) {
      return frozen.nextEnd(context, freeze);
    }
    // The target was seen to be gone before the source was given up.
    return context.hasFailed() && frozen.thaw(context, freeze) instanceof Progress.Due due
        ? Optional.of(due)
        : Optional.empty();
  }

  /** Deletes the migration if its time is over; returns when that is. */
  private Optional<Duration> expire(MigrationContext context) {
    Optional<Duration> left =
        new TimeToLive(context.migration().getSpec().getOptions().getTtlSecondsAfterFinished())
            .left(context.phases(), context.now());
    if (left.filter(Duration::isZero).isEmpty()) {
      return left;
    }
    client.resource(context.migration()).delete();
    return Optional.empty();
  }

  /**
   * Returns whether it has no operations any more. Nothing else would delete them: an unfinished
   * one is canceled and waited for, as long as an agent may end it.
   */
  boolean release(MigrationContext context) {
    List<OperationView> open = context.work().all().stream().filter(it -> !it.isFinal()).toList();
    for (OperationView operation : open) {
      if (!isWaitedFor(operation, context)) {
        operations.all().abandon(operation.operation());
      } else if (!operation.isCancelled()
          && !DECIDED.contains(operation.type())
          && operation.phase() != OperationPhase.HELD) {
        operations.all().release(operation.operation());
      }
    }
    if (open.isEmpty()) {
      context.work().all().forEach(it -> operations.all().release(it.operation()));
    }
    return open.isEmpty();
  }

  /**
   * A held source is ended after a switch-over, and thawed after a rollback unless it is lost;
   * without a decision nothing happens to it.
   */
  private boolean isWaitedFor(OperationView operation, MigrationContext context) {
    Instant deleted = Instant.parse(context.migration().getMetadata().getDeletionTimestamp());
    boolean left =
        operation.phase() == OperationPhase.HELD
            && context.phase() != MigrationPhase.SUCCEEDED
            && (!context.hasFailed() || frozen.thaw(context, operation) instanceof Progress.Lost);
    if (left || !deleted.plus(context.orphanAfter()).isAfter(context.now())) {
      return false;
    }
    String node = operation.node();
    return Stream.of(context.sourceAgent(), context.targetAgent())
        .flatMap(Optional::stream)
        .anyMatch(agent -> agent.node().equals(node) && !agent.nodeGone());
  }
}
