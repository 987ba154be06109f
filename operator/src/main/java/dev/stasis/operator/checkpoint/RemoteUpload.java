package dev.stasis.operator.checkpoint;

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

/**
 * Has the artifact of a remote store uploaded by the node that wrote it, and reports how far it is.
 */
final class RemoteUpload {

  private final Orders orders;

  RemoteUpload(Orders orders) {
    this.orders = orders;
  }

  /** Continues the upload of the artifact in the status, if it has one that is not complete. */
  void next(Turn turn) {
    ArtifactStatus artifact = turn.status().getArtifact();
    if (artifact == null || artifact.getDurability() == null) {
      return;
    }
    Optional<OperationView> found = Frozen.operation(turn, OperationType.UPLOAD, 1);
    if (artifact.getNode() == null) {
      found.filter(OperationView::isFinal).ifPresent(view -> turn.act(new Act.Release(view)));
      return;
    }
    turn.report()
        .also(
            ConditionType.STORED_LOCALLY,
            ConditionValue.TRUE,
            Reason.ARTIFACT_VERIFIED,
            "on the disk of node " + artifact.getNode());
    if (found.isEmpty()) {
      turn.act(new Act.Create(orders.upload(turn, artifact)));
      stored(turn, ConditionValue.FALSE, Reason.UPLOADING, "waits for the agent of its node");
    } else if (!found.get().isFinal()) {
      uploading(turn, found.get());
    } else if (found.get().succeeded()) {
      uploaded(turn, artifact, found.get());
    } else {
      failed(turn, found.get());
    }
  }

  /** Takes the artifact over from its operation, and keeps what an upload has added to it. */
  static void takeOver(Turn turn, ArtifactStatus said) {
    ArtifactStatus known = turn.status().getArtifact();
    boolean uploaded =
        known != null
            && known.getNode() == null
            && said.getNode() != null
            && Objects.equals(known.getLocation(), said.getLocation())
            && Objects.equals(known.getSha256(), said.getSha256());
    if (!uploaded) {
      turn.status().setArtifact(said);
    }
  }

  /** Returns whether the artifact is where its store promises to have it before the pod goes. */
  static boolean isStored(Turn turn) {
    ArtifactStatus artifact = turn.status().getArtifact();
    return artifact == null || artifact.keepsPromise();
  }

  /** Reports that the pod stays frozen until the upload is complete. */
  static void await(Turn turn) {
    ArtifactStatus artifact = Objects.requireNonNull(turn.status().getArtifact(), "not stored");
    Optional<Condition> trouble =
        turn.report()
            .find(ConditionType.STORED)
            .filter(stored -> stored.reason().equals(Reason.UPLOAD_FAILED.value()));
    Fault fault =
        Reasons.fault(
            trouble.isPresent() ? Reason.UPLOAD_FAILED : Reason.UPLOADING,
            "artifact",
            "it in store " + artifact.getStore() + " before the pod is removed",
            trouble
                .map(Condition::message)
                .orElse("it only on the disk of node " + artifact.getNode()));
    // If the deadline passes before, this is why the checkpoint fails.
    turn.status().setFaults(List.of(fault));
    turn.working(Reason.UPLOADING, "the pod stays frozen until the artifact is stored");
  }

  /** The freeze was rolled back, and the agent has deleted what it had written. */
  static void undone(Turn turn) {
    Optional<Condition> local = turn.report().find(ConditionType.STORED_LOCALLY);
    if (local.isPresent()) {
      String sentence = "deleted when the freeze was rolled back";
      turn.report()
          .also(
              ConditionType.STORED_LOCALLY,
              ConditionValue.FALSE,
              Reason.ARTIFACT_DELETED,
              sentence);
      turn.status().copyProgress(null);
    }
  }

  private static void uploading(Turn turn, OperationView view) {
    turn.status().copyProgress(view.status());
    String message = view.status().getMessage();
    if (message == null || message.isBlank()) {
      stored(
          turn,
          ConditionValue.FALSE,
          Reason.UPLOADING,
          view.isClaimed() ? "is being uploaded" : "waits for the agent of its node");
    } else {
      // The agent says what it waits for: a server that does not answer.
      stored(turn, ConditionValue.FALSE, Reason.UPLOAD_FAILED, message);
      turn.tell(true, Reason.UPLOAD_FAILED, message, "upload");
    }
  }

  private static void uploaded(Turn turn, ArtifactStatus artifact, OperationView view) {
    ArtifactStatus said = view.status().getArtifact();
    if (said != null) {
      artifact.setStoredBytes(said.getStoredBytes());
      artifact.setNewBytes(said.getNewBytes());
    }
    artifact.setNode(null);
    turn.status().copyProgress(null);
    String sentence = Ending.artifact(turn);
    stored(turn, ConditionValue.TRUE, Reason.UPLOADED, sentence);
    turn.tell(false, Reason.UPLOADED, sentence, "uploaded");
  }

  private static void failed(Turn turn, OperationView view) {
    turn.status().copyProgress(null);
    String why = Objects.requireNonNullElse(view.status().getMessage(), view.reason());
    stored(turn, ConditionValue.FALSE, Reason.UPLOAD_FAILED, why);
    turn.tell(true, Reason.UPLOAD_FAILED, why, "upload");
    turn.retry(view, turn.created());
  }

  private static void stored(Turn turn, ConditionValue value, Reason reason, String sentence) {
    turn.report().also(ConditionType.STORED, value, reason, sentence);
  }
}
