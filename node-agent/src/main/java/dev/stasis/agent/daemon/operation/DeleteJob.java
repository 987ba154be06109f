package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.sweep.SweepMark;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.store.ArtifactId;
import java.io.IOException;
import java.util.Optional;

/**
 * DeleteArtifact: succeeds if the artifact does not exist. Refuses an artifact of another object,
 * or one on which a frozen workload depends.
 */
final class DeleteJob implements Job {

  private final AgentParts parts;
  private final OperationRecorder recorder;

  DeleteJob(AgentParts parts, OperationRecorder recorder) {
    this.parts = parts;
    this.recorder = recorder;
  }

  @Override
  public OperationResult run(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactReference artifact = operation.artifact();
    ArtifactPlace where = ArtifactPlace.of(parts.cluster(), artifact);
    boolean exists = where.exists();
    if (exists) {
      where.requireDeletable();
    }
    Optional<String> use = parts.engine().artifactUse().of(where.path());
    if (use.isPresent()) {
      throw new Refused(
          "InUse", "an operation that needs artifact " + artifact.location(), "none", use.get());
    }
    if (where.remote() != null && artifact.namespaceUid() != null) {
      ArtifactId id = where.remoteId();
      OperationResult remote =
          new RemoteTransfer(recorder, "delete")
              .run(
                  operation,
                  where.requireRemote().opener(),
                  (store, progress) -> {
                    store.delete(id);
                    return OperationResult.done("ArtifactDeleted", "deleted from the remote store");
                  });
      if (remote.phase() != OperationPhase.SUCCEEDED) {
        return remote;
      }
    }
    if (!exists) {
      return OperationResult.done(
          "ArtifactDeleted", "there was no artifact at " + artifact.location());
    }
    recorder.begin(operation);
    try {
      new ArtifactStore(where.folder(), parts.clock()).delete(where.name());
      new SweepMark(where.path()).remove();
      return OperationResult.done(
          "ArtifactDeleted", "artifact " + artifact.location() + " is deleted");
    } catch (IOException e) {
      return OperationResult.failed(
          Outcome.NOT_UNDONE,
          Faults.inStep("StoreFailed", "delete", String.valueOf(e.getMessage())));
    }
  }
}
