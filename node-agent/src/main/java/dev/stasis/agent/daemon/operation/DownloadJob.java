package dev.stasis.agent.daemon.operation;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.artifact.Artifact;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.Progress;
import dev.stasis.store.ArtifactId;
import dev.stasis.store.RemoteArtifacts;
import java.io.IOException;
import java.util.concurrent.Semaphore;

/**
 * Download: brings an artifact from its remote store to this node. It appears at its place once it
 * is whole and has the digest that was ordered; what is in its files is checked by the restore.
 */
final class DownloadJob implements Job {

  private final AgentParts parts;
  private final OperationRecorder recorder;
  private final Semaphore turn;

  /**
   * @param turn of downloads
   */
  DownloadJob(AgentParts parts, OperationRecorder recorder, Semaphore turn) {
    this.parts = parts;
    this.recorder = recorder;
    this.turn = turn;
  }

  @Override
  public OperationResult run(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactPlace where = ArtifactPlace.withDigest(parts.cluster(), operation.artifact());
    ArtifactId id = where.remoteId();
    where.createFolder();
    return new RemoteTransfer(recorder, "download", turn)
        .run(
            operation,
            where.requireRemote().opener(),
            (remote, progress) -> download(where, id, remote, progress));
  }

  private OperationResult download(
      ArtifactPlace where, ArtifactId id, RemoteArtifacts remote, OperationProgress progress)
      throws Refused, IOException {
    if (isHere(where)) {
      return OperationResult.done("Downloaded", "the artifact is on this node already");
    }
    where.removeLeftovers(parts);
    long bytes = where.fetch(remote, id, parts.clock(), progress).manifest().sizes().bytes();
    where.markCopy(parts.clock().instant());
    return OperationResult.done("Downloaded", new HumanBytes(bytes).text() + " are here");
  }

  /** A copy of this node that is damaged is replaced by the one of the store. */
  private boolean isHere(ArtifactPlace where) throws Refused, IOException {
    if (!where.exists()) {
      return false;
    }
    // Before it is read, too: it must not be deleted meanwhile.
    where.markUsed(parts.clock().instant());
    Opened opened =
        new ArtifactReader(threads(), Progress.NONE).open(where.path(), where.reference().sha256());
    if (opened instanceof Opened.Verified verified) {
      Artifact artifact = verified.artifact();
      where.requireOurs(artifact.manifest());
      where.markUsed(parts.clock().instant());
      return true;
    }
    where.requireDeletable();
    if (parts.engine().artifactUse().of(where.path()).isPresent()) {
      throw new Refused(
          "InUse", "artifact " + where.reference().location(), "not in use", "in use");
    }
    new ArtifactStore(where.folder(), parts.clock()).delete(where.name());
    return false;
  }

  private static int threads() {
    return Math.max(1, Runtime.getRuntime().availableProcessors());
  }
}
