package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.DeletionPolicy;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.BroughtBack;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the artifact of a GpuCheckpoint that is deleted, or has an agent record that it stays:
 * the agents' sweep may have read the object while its artifact was to be deleted with it.
 */
final class ArtifactRemoval {

  /** An agent's reasons to refuse an artifact itself. */
  private static final Set<String> NOT_ITS_OWN = Set.of("ArtifactRefused", "OtherNamespace");

  private final CheckpointOperations operations;

  ArtifactRemoval(CheckpointOperations operations) {
    this.operations = operations;
  }

  /** Returns whether the artifact is deleted, retained or unreachable; otherwise tries again. */
  boolean run(CheckpointContext context) {
    CheckpointReporter reporter = context.reporter();
    ArtifactStatus artifact = artifact(context);
    if (artifact == null || artifact.getStore() == null) {
      return true;
    }
    List<ObjectReference> users = context.artifactUsers();
    if (!users.isEmpty()) {
      ObjectReference user = users.get(0);
      reporter.normal(
          Reason.IN_USE,
          "the artifact is needed by %s %s; the object is deleted afterwards"
              .formatted(user.kind(), user.name()),
          "in-use/" + user.uid());
      return false;
    }
    OperationType type =
        isRetained(context) ? OperationType.RETAIN_ARTIFACT : OperationType.DELETE_ARTIFACT;
    Optional<OperationView> operation = context.operation(type, 1);
    if (operation.isPresent()) {
      return operation.get().succeeded()
          ? ended(context, artifact, type)
          : failed(context, artifact, type, operation.get());
    }
    Optional<String> node = context.reachingNode(artifact);
    if (node.isEmpty()) {
      return type == OperationType.RETAIN_ARTIFACT
          ? isBeyondReach(context, artifact)
          : isOrphaned(context, artifact);
    }
    if (type == OperationType.RETAIN_ARTIFACT) {
      operations.retain(context, artifact, node.get());
    } else {
      operations.delete(context, artifact, node.get());
    }
    return false;
  }

  private static boolean ended(
      CheckpointContext context, ArtifactStatus artifact, OperationType type) {
    if (type == OperationType.RETAIN_ARTIFACT) {
      context.reporter().normal(Reason.ARTIFACT_RETAINED, stays(artifact), "retained");
    } else {
      context.reporter().normal(Reason.ARTIFACT_DELETED, "the artifact is deleted", "deleted");
    }
    return true;
  }

  /**
   * Tries again. Finally the object is removed without its artifact. One that is retained needs the
   * record that it stays, unless the agent refuses the artifact: then no sweep deletes it either.
   */
  private boolean failed(
      CheckpointContext context,
      ArtifactStatus artifact,
      OperationType type,
      OperationView failed) {
    CheckpointReporter reporter = context.reporter();
    String why = stays(artifact) + ": " + failed.message("it failed");
    if ((type == OperationType.DELETE_ARTIFACT || isSpared(context, artifact, failed))
        && isLate(context)) {
      reporter.warning(Reason.RELEASED, why, "released");
      return true;
    }
    context.updater().deleting(Reason.OPERATION_FAILED, why);
    reporter.warning(Reason.OPERATION_FAILED, why, "delete");
    operations.retry(context, failed, CheckpointFinalizer.deleted(context));
    return false;
  }

  /**
   * Returns whether no sweep deletes it without a record, because it is not that of the object or
   * its store is deleted. A store that is not mounted now is swept later.
   */
  private static boolean isSpared(
      CheckpointContext context, ArtifactStatus artifact, OperationView failed) {
    boolean isRefused =
        failed.ended(Outcome.REFUSED)
            && failed.faults().stream().anyMatch(fault -> NOT_ITS_OWN.contains(fault.reason()));
    String store = Objects.requireNonNull(artifact.getStore(), "read before");
    return isRefused || context.cluster().store(store).isEmpty();
  }

  private static String stays(ArtifactStatus artifact) {
    return "the artifact is kept at %s in store %s"
        .formatted(artifact.getLocation(), artifact.getStore());
  }

  private static @Nullable ArtifactStatus artifact(CheckpointContext context) {
    ArtifactStatus known = context.status().getArtifact();
    return known != null
        ? known
        : context
            .freezes()
            .flatMap(operation -> operation.artifact().stream())
            .findFirst()
            .orElse(null);
  }

  /**
   * By its policy. The only copy of an evicted workload is always retained, also if the eviction
   * was not reported as one because the freeze failed, or may still happen.
   */
  private static boolean isRetained(CheckpointContext context) {
    boolean evicted =
        context.freezes().anyMatch(operation -> operation.workload() == WorkloadState.ENDED)
            || context.conditions().isEvicted()
            || isUnknown(context)
            || (!context.isImport()
                && context.spec().getAfterCheckpoint() == AfterCheckpoint.EVICT
                && context.isPodLeaving());
    BroughtBack back = new BroughtBack(context.object());
    boolean restored =
        context.restores().stream()
            .anyMatch(restore -> back.by(restore, Set.of(RestorePhase.SUCCEEDED)));
    return context.spec().getOptions().getDeletionPolicy() == DeletionPolicy.RETAIN
        || (evicted && !restored);
  }

  /** Returns whether the agent was silent when the request failed, and has not thawed it since. */
  private static boolean isUnknown(CheckpointContext context) {
    return context.conditions().has(ConditionType.SOURCE_RUNNING, Reason.NODE_SILENT)
        && context.freezes().noneMatch(freeze -> freeze.workload() == WorkloadState.RUNNING);
  }

  /**
   * Returns whether no agent can reach the artifact again, because its store is deleted or its node
   * has left the cluster for good. Until then the object is kept instead of the record that the
   * artifact stays: an agent that is silent may have read before that it is deleted with the
   * object.
   */
  private static boolean isBeyondReach(CheckpointContext context, ArtifactStatus artifact) {
    Optional<NodeAgent> agent = Optional.ofNullable(artifact.getNode()).map(context::agent);
    String store = Objects.requireNonNull(artifact.getStore(), "read before");
    boolean isGone =
        context.cluster().store(store).isEmpty() || agent.filter(NodeAgent::nodeGone).isPresent();
    if (isGone && isLate(context)) {
      context
          .reporter()
          .warning(Reason.RELEASED, stays(artifact) + ": its node or store is deleted", "released");
      return true;
    }
    String why = agent.flatMap(NodeAgent::against).orElse("no agent can reach the store");
    context
        .updater()
        .deleting(
            Reason.WAITING_FOR_AGENT,
            "the artifact is retained; the object is deleted once an agent has recorded that: "
                + why);
    return false;
  }

  private static boolean isOrphaned(CheckpointContext context, ArtifactStatus artifact) {
    if (artifact.getNode() == null) {
      if (isLate(context)) {
        context.reporter().warning(Reason.RELEASED, "no agent can reach the artifact", "released");
      }
      return isLate(context);
    }
    NodeAgent agent = context.agent(artifact.getNode());
    boolean givenUp = CheckpointFinalizer.isGivenUp(context, agent);
    if (givenUp) {
      CheckpointFinalizer.released(context, agent, "the artifact");
    }
    return givenUp;
  }

  private static boolean isLate(CheckpointContext context) {
    Instant end = CheckpointFinalizer.deleted(context).plus(context.config().orphanAfter());
    return end.isBefore(context.now());
  }
}
