package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.operation.ExpectedWorkload;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.store.ArtifactId;
import dev.stasis.store.StoredArtifact;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Brings an artifact that is imported from its remote store to this node, unless it is here. */
final class RemoteImport {

  /** NAME-UID, as the operator names the folder of an artifact. */
  private static final Pattern NAME =
      Pattern.compile(".*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})");

  private final AgentParts parts;
  private final OperationRecorder recorder;
  private final ArtifactPlace where;
  private final Semaphore turn;
  private final AtomicReference<@Nullable StoredArtifact> found = new AtomicReference<>();
  private volatile boolean fetched;

  /**
   * @param turn of downloads
   */
  RemoteImport(AgentParts parts, OperationRecorder recorder, ArtifactPlace where, Semaphore turn) {
    this.parts = parts;
    this.recorder = recorder;
    this.where = where;
    this.turn = turn;
  }

  /** Returns how that ended; it must be in the store, even if this node has a copy. */
  OperationResult bring(ActiveOperation operation, ExpectedWorkload expected)
      throws Refused, Job.Stopped, IOException, InterruptedException {
    ArtifactId id = id(expected);
    where.createFolder();
    return new RemoteTransfer(recorder, "download", turn)
        .run(
            operation,
            where.requireRemote().opener(),
            (remote, progress) -> {
              found.set(remote.inspect(id));
              if (!where.exists()) {
                where.removeLeftovers(parts);
                var unused = where.fetch(remote, id, parts.clock(), progress);
                fetched = true;
              }
              return OperationResult.done("Downloaded", "the artifact is on this node");
            });
  }

  private ArtifactId id(ExpectedWorkload expected) throws Refused {
    Matcher name = NAME.matcher(where.name());
    String namespaceUid = expected.namespaceUid();
    if (!name.matches() || namespaceUid == null) {
      throw new Refused(
          ImportJob.REFUSED,
          "importFrom.location",
          "NAMESPACE/NAME-UID, as in status.artifact.location",
          where.reference().location());
    }
    return new ArtifactId(namespaceUid, name.group(1));
  }

  /** It is in the store, which the import did not change. */
  void describe(ArtifactStatus artifact) {
    StoredArtifact stored = found.get();
    artifact.setNode(null);
    artifact.setStoredBytes(stored == null ? null : stored.storedBytes());
    artifact.setNewBytes(0L);
  }

  /** Deletes what was fetched for an import that came to nothing: no object would. */
  void clearUp(@Nullable OperationResult result) throws IOException {
    if (fetched && (result == null || result.phase() != OperationPhase.SUCCEEDED)) {
      new ArtifactStore(where.folder(), parts.clock()).delete(where.name());
    }
  }
}
