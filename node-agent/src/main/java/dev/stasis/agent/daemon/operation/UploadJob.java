package dev.stasis.agent.daemon.operation;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.artifact.Artifact;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.store.ArtifactId;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoredArtifact;
import dev.stasis.store.VerifyReport;
import java.io.IOException;
import java.util.concurrent.Semaphore;

/**
 * Upload: stores an artifact of this node in its remote store. Every byte of it is checked before,
 * so that nothing is stored that cannot be restored. Chunks that an earlier try has stored are not
 * sent again.
 */
final class UploadJob implements Job {

  private final AgentParts parts;
  private final OperationRecorder recorder;
  private final Semaphore turn;

  /**
   * @param turn of uploads
   */
  UploadJob(AgentParts parts, OperationRecorder recorder, Semaphore turn) {
    this.parts = parts;
    this.recorder = recorder;
    this.turn = turn;
  }

  @Override
  public OperationResult run(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactPlace where = ArtifactPlace.withDigest(parts.cluster(), operation.artifact());
    ArtifactId id = where.remoteId();
    ClusterApi.RemotePlace remotePlace = where.requireRemote();
    if (remotePlace.refusal() != null) {
      throw new Refused(
          "StoreNotWritable",
          "store " + where.reference().store(),
          "a writable one",
          remotePlace.refusal());
    }
    OperationProgress verifying = new OperationProgress(operation, recorder, "verify");
    Artifact artifact;
    try {
      artifact =
          ArtifactPlace.require(
              new ArtifactReader(threads(), verifying)
                  .open(where.path(), where.reference().sha256()));
    } catch (IOException e) {
      verifying.rethrow(e);
      return OperationResult.storeFailed("verify", e);
    }
    where.requireOurs(artifact.manifest());
    return new RemoteTransfer(recorder, "upload", turn)
        .run(
            operation,
            remotePlace.opener(),
            (remote, progress) -> uploaded(where, artifact, id, remote, progress));
  }

  private OperationResult uploaded(
      ArtifactPlace where,
      Artifact artifact,
      ArtifactId id,
      RemoteArtifacts remote,
      OperationProgress progress)
      throws Refused, IOException {
    StoredArtifact stored = remote.store(id, where.path(), progress);
    VerifyReport report = remote.verify(id, progress);
    if (!report.whole()) {
      // A chunk of an earlier upload is damaged. Its pack is no longer used.
      remote.delete(id);
      stored = remote.store(id, where.path(), progress);
      report = remote.verify(id, progress);
    }
    if (!report.whole()) {
      remote.delete(id);
      VerifyReport.Damage damage = report.damages().get(0);
      return OperationResult.failed(
          Outcome.UNDONE,
          Faults.inStep("StoreFailed", "verify", damage.where() + ": " + damage.cause()));
    }
    where.markCopy(parts.clock().instant());
    ArtifactStatus status = where.status(parts.nodeName(), artifact.manifest(), artifact.sha256());
    status.setNode(null);
    status.setStoredBytes(stored.storedBytes());
    status.setNewBytes(stored.newBytes());
    return OperationResult.done(
            "Uploaded",
            "%s of %s were new in the store"
                .formatted(
                    new HumanBytes(stored.newBytes()).text(),
                    new HumanBytes(stored.logicalBytes()).text()))
        .with(written -> written.setArtifact(status));
  }

  /** Half of the processors, for the pods of the node run meanwhile. */
  private static int threads() {
    return Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
  }
}
