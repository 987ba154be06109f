package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import java.time.Instant;
import java.util.Set;

/**
 * Follows a workload that could not be thawed after a failed operation. Its agent retries until the
 * workload runs, and reports that in the operation, which is kept until then.
 */
final class ThawFollowUp {

  /** Reasons after which the state of the workload was unknown. */
  private static final Set<String> OPEN =
      Set.of(Reason.NOT_THAWED.value(), Reason.NODE_SILENT.value());

  private final PostResumeCleanup cleanup;

  ThawFollowUp(PostResumeCleanup cleanup) {
    this.cleanup = cleanup;
  }

  /** Reports that it is still frozen. */
  void report(CheckpointContext context, OperationView freeze) {
    CheckpointReporter reporter = context.reporter();
    String message = message(freeze);
    boolean known = freeze.workload() == WorkloadState.FROZEN;
    context
        .updater()
        .source(known ? ConditionValue.FALSE : ConditionValue.UNKNOWN, Reason.NOT_THAWED, message);
    reporter.frozen(
        Reason.NOT_THAWED,
        "frozen by GpuCheckpoint %s: %s"
            .formatted(context.object().getMetadata().getName(), message));
    reporter.warning(Reason.NOT_THAWED, message, occasion(freeze, "stands"));
    context.poll();
  }

  /**
   * Reports what has become of the workload since the request failed.
   *
   * @return whether the operation may be deleted
   */
  boolean isOver(CheckpointContext context, OperationView freeze) {
    if (freeze.isLeftFrozen()) {
      return !isWaitedFor(context, freeze, context.created());
    }
    boolean open =
        context
            .conditions()
            .find(ConditionType.SOURCE_RUNNING)
            .filter(condition -> OPEN.contains(condition.reason()))
            .isPresent();
    if (open) {
      changed(context, freeze);
    }
    return true;
  }

  /** Returns whether its agent can still thaw it. Has no effect. */
  boolean isPossible(CheckpointContext context, OperationView freeze, Instant since) {
    NodeAgent agent = context.agent(freeze);
    boolean givenUp =
        context.isDeleted()
            && agent.isGivenUp(since, context.config().orphanAfter(), context.now());
    return context.pod().isPresent() && !agent.nodeGone() && !givenUp;
  }

  /** Returns the same, and reports the state of the workload. */
  boolean isWaitedFor(CheckpointContext context, OperationView freeze, Instant since) {
    copyArtifact(context, freeze);
    NodeAgent agent = context.agent(freeze);
    if (context.pod().isEmpty()) {
      lost(context, freeze, "the pod was deleted while its workload was frozen");
      return false;
    }
    if (agent.nodeGone()) {
      lost(context, freeze, "node " + agent.node() + " is gone, and the frozen workload with it");
      return false;
    }
    report(context, freeze);
    boolean possible = isPossible(context, freeze, since);
    if (!possible) {
      context
          .reporter()
          .warning(
              Reason.RELEASED,
              "the frozen workload is released: " + agent.against().orElse("its agent is silent"),
              occasion(freeze, "released"));
    }
    return possible;
  }

  /** Its store may have taken it only after the end of the operation. */
  private static void copyArtifact(CheckpointContext context, OperationView freeze) {
    freeze.artifact().ifPresent(context.updater()::copyArtifact);
  }

  private void changed(CheckpointContext context, OperationView freeze) {
    copyArtifact(context, freeze);
    if (freeze.workload() == WorkloadState.ENDED) {
      lost(context, freeze, freeze.message("it has ended while frozen"));
    } else if (freeze.workload() == WorkloadState.RUNNING) {
      thawed(context, freeze);
    } else if (freeze.isUntouched()) {
      context.updater().untouched();
    }
  }

  private void thawed(CheckpointContext context, OperationView freeze) {
    CheckpointReporter reporter = context.reporter();
    Instant since = freeze.status().getWorkloadTime();
    String message =
        "the workload is running"
            + (since == null ? "" : " since " + since)
            + ": thawed by its agent";
    context.updater().source(ConditionValue.TRUE, Reason.THAWED, message);
    reporter.notFrozen(Reason.THAWED, message);
    reporter.normal(Reason.THAWED, message, occasion(freeze, "woken"));
    cleanup.run(context, freeze);
  }

  private static void lost(CheckpointContext context, OperationView freeze, String message) {
    CheckpointReporter reporter = context.reporter();
    context.updater().source(ConditionValue.FALSE, Reason.WORKLOAD_LOST, message);
    reporter.notFrozen(Reason.WORKLOAD_LOST, message);
    reporter.warning(Reason.WORKLOAD_LOST, message, occasion(freeze, "lost"));
  }

  private static String message(OperationView freeze) {
    String why = freeze.message();
    return freeze.workload() == WorkloadState.FROZEN
        ? "it is still frozen, and its agent retries the thaw until it runs: " + why
        : "it is unknown whether it runs, and its agent retries the thaw: " + why;
  }

  private static String occasion(OperationView freeze, String what) {
    return what + "/" + freeze.operation().getMetadata().getUid();
  }
}
