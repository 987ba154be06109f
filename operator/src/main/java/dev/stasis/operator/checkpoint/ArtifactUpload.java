package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Uploads the artifact of a remote store from the node that wrote it. */
final class ArtifactUpload {

  private final CheckpointOperations operations;

  ArtifactUpload(CheckpointOperations operations) {
    this.operations = operations;
  }

  /** Continues the upload of the artifact in the status, if it has one that is not complete. */
  void next(CheckpointContext context) {
    ArtifactStatus artifact = context.status().getArtifact();
    if (artifact == null || artifact.getDurability() == null) {
      return;
    }
    Optional<OperationView> found = context.operation(OperationType.UPLOAD, 1);
    if (artifact.getNode() == null) {
      found.filter(OperationView::isFinal).ifPresent(operations::release);
      return;
    }
    context
        .updater()
        .also(
            ConditionType.STORED_LOCALLY,
            ConditionValue.TRUE,
            Reason.ARTIFACT_VERIFIED,
            "on the disk of node " + artifact.getNode());
    if (found.isEmpty()) {
      operations.upload(context, artifact);
      stored(context, ConditionValue.FALSE, Reason.UPLOADING, "waits for the agent of its node");
    } else if (!found.get().isFinal()) {
      uploading(context, found.get());
    } else if (found.get().succeeded()) {
      uploaded(context, artifact, found.get());
    } else {
      failed(context, found.get());
    }
  }

  /** Takes over the artifact of a frozen workload, and uploads it unless the freeze is undone. */
  void held(CheckpointContext context, OperationView held) {
    CheckpointStatusUpdater updater = context.updater();
    updater.transitionTo(
        context.phase() == CheckpointPhase.RESUMING
            ? CheckpointPhase.RESUMING
            : CheckpointPhase.SAVING);
    held.artifact()
        .filter(artifact -> artifact.getDurability() != null)
        .ifPresent(updater::copyArtifact);
    if (!context.isDeleted() && !context.isCancelled()) {
      next(context);
    }
  }

  /** Returns whether the artifact is where its store requires it before the pod is removed. */
  boolean isStored(CheckpointContext context) {
    ArtifactStatus artifact = context.status().getArtifact();
    return artifact == null || artifact.keepsPromise();
  }

  /** Reports that the pod stays frozen until the upload is complete. */
  void await(CheckpointContext context) {
    CheckpointStatusUpdater updater = context.updater();
    ArtifactStatus artifact = Objects.requireNonNull(context.status().getArtifact(), "not stored");
    Optional<Condition> trouble =
        updater
            .find(ConditionType.STORED)
            .filter(stored -> Reason.UPLOAD_FAILED.is(stored.reason()));
    Fault fault =
        Fault.misfit(
            (trouble.isPresent() ? Reason.UPLOAD_FAILED : Reason.UPLOADING).value(),
            "artifact",
            "it in store " + artifact.getStore() + " before the pod is removed",
            trouble
                .map(Condition::message)
                .orElse("it only on the disk of node " + artifact.getNode()));
    // If the deadline passes before, this is why the checkpoint fails.
    context.status().setFaults(List.of(fault));
    updater.working(Reason.UPLOADING, "the pod stays frozen until the artifact is stored");
  }

  /** The freeze was rolled back, and the agent has deleted what it had written. */
  void rolledBack(CheckpointContext context) {
    CheckpointStatusUpdater updater = context.updater();
    Optional<Condition> local = updater.find(ConditionType.STORED_LOCALLY);
    if (local.isPresent()) {
      String message = "deleted when the freeze was rolled back";
      updater.also(
          ConditionType.STORED_LOCALLY, ConditionValue.FALSE, Reason.ARTIFACT_DELETED, message);
      context.status().copyProgress(null);
    }
  }

  private static void uploading(CheckpointContext context, OperationView view) {
    context.status().copyProgress(view.status());
    String message = view.status().getMessage();
    if (message == null || message.isBlank()) {
      stored(
          context,
          ConditionValue.FALSE,
          Reason.UPLOADING,
          view.isClaimed() ? "is being uploaded" : "waits for the agent of its node");
    } else {
      // The agent says what it waits for: a server that does not answer.
      stored(context, ConditionValue.FALSE, Reason.UPLOAD_FAILED, message);
      context.reporter().warning(Reason.UPLOAD_FAILED, message, "upload");
    }
  }

  private static void uploaded(
      CheckpointContext context, ArtifactStatus artifact, OperationView view) {
    ArtifactStatus reported = view.status().getArtifact();
    if (reported != null) {
      artifact.setStoredBytes(reported.getStoredBytes());
      artifact.setNewBytes(reported.getNewBytes());
    }
    artifact.setNode(null);
    context.status().copyProgress(null);
    String message = context.updater().artifact();
    stored(context, ConditionValue.TRUE, Reason.UPLOADED, message);
    context.reporter().normal(Reason.UPLOADED, message, "uploaded");
  }

  private void failed(CheckpointContext context, OperationView view) {
    context.status().copyProgress(null);
    String why = view.message();
    stored(context, ConditionValue.FALSE, Reason.UPLOAD_FAILED, why);
    context.reporter().warning(Reason.UPLOAD_FAILED, why, "upload");
    operations.retry(context, view, context.created());
  }

  private static void stored(
      CheckpointContext context, ConditionValue value, Reason reason, String message) {
    context.updater().also(ConditionType.STORED, value, reason, message);
  }
}
