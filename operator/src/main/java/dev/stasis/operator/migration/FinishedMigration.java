package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.TimeToLive;
import dev.stasis.operator.workflow.Progress;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Observes a finished migration: lowers a raised memory limit, ends a frozen source on a returned
 * node, deletes its operations, and deletes it after its time to live.
 */
@Singleton
class FinishedMigration {

  private final MigrationOperations operations;
  private final MigrationHeadroom headroom;
  private final FrozenSource frozen;
  private final KubernetesClient client;
  private final StasisConfig config;

  FinishedMigration(
      MigrationOperations operations,
      MigrationHeadroom headroom,
      KubernetesClient client,
      StasisConfig config) {
    this.operations = operations;
    this.headroom = headroom;
    this.frozen = new FrozenSource(operations);
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
    boolean open = false;
    for (OperationView operation : context.work().all()) {
      if (!operation.isFinal()) {
        open = true;
      } else if (lowered || operation.type() != OperationType.CHECKPOINT) {
        // The inspection has the original pod, which contains the old limit.
        operations.all().release(operation.operation());
      }
    }
    if (open && context.phase() == MigrationPhase.SUCCEEDED) {
      endLate(context);
    }
    return lowered && !open;
  }

  /** A node that was not waited for is back: a remaining frozen source is ended. */
  private void endLate(MigrationContext context) {
    Optional<OperationView> freeze = context.work().freeze().filter(it -> !it.isFinal());
    if (freeze.isPresent() && !context.sourceAgent().map(NodeAgent::isAway).orElse(true)) {
      frozen.nextEnd(context, freeze.get()).ifPresent(Progress.Due::run);
    }
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
      } else if (!operation.isCancelled() && operation.phase() != OperationPhase.HELD) {
        operations.all().release(operation.operation());
      }
    }
    if (open.isEmpty()) {
      context.work().all().forEach(it -> operations.all().release(it.operation()));
    }
    return open.isEmpty();
  }

  /**
   * A held source is ended after a switch-over; after any other end there is no decision about it.
   */
  private static boolean isWaitedFor(OperationView operation, MigrationContext context) {
    Instant deleted = Instant.parse(context.migration().getMetadata().getDeletionTimestamp());
    boolean undecided =
        operation.phase() == OperationPhase.HELD && context.phase() != MigrationPhase.SUCCEEDED;
    if (undecided || !deleted.plus(context.orphanAfter()).isAfter(context.now())) {
      return false;
    }
    String node = operation.node();
    return Stream.of(context.sourceAgent(), context.targetAgent())
        .flatMap(Optional::stream)
        .anyMatch(agent -> agent.node().equals(node) && !agent.nodeGone());
  }
}
