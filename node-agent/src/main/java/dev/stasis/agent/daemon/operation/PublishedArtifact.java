package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.util.Optional;

/** Looks for the artifact that an operation has published before its agent ended. */
record PublishedArtifact(AgentParts parts) {

  private static final System.Logger LOG = System.getLogger(PublishedArtifact.class.getName());

  /**
   * Returns the artifact that this operation has published. Its bytes are read again only if its
   * workload runs: they were digested during this boot, and a frozen workload would stay frozen
   * while they are read.
   */
  Optional<ArtifactStatus> find(ActiveOperation operation, Work.Phase phase) {
    try {
      return stored(operation, phase);
    } catch (ApiUnreachable e) {
      LOG.log(Level.WARNING, "artifact of " + operation.name(), e);
      return Optional.empty();
    }
  }

  /** The same; an API server that does not answer is an error. */
  Optional<ArtifactStatus> stored(ActiveOperation operation, Work.Phase phase)
      throws ApiUnreachable {
    ArtifactReference reference = operation.spec().getArtifact();
    if (reference == null) {
      return Optional.empty();
    }
    try {
      ArtifactPlace place = ArtifactPlace.of(parts.cluster(), reference);
      return phase == Work.Phase.PUBLISHING
          ? read(place, phase)
          : parts.engine().readStore("artifact of " + operation.name(), () -> read(place, phase));
    } catch (ApiUnreachable e) {
      throw e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (IOException | Refused e) {
      LOG.log(Level.WARNING, "artifact of " + operation.name(), e);
      return Optional.empty();
    }
  }

  /**
   * Returns the result of an operation that held an evicted workload when its node rebooted. The
   * last bytes of the artifact may not have reached the disk, so all of them are read.
   *
   * @param lost the result without an artifact
   */
  OperationResult afterReboot(ActiveOperation operation, OperationResult lost)
      throws ApiUnreachable {
    ArtifactReference reference = operation.spec().getArtifact();
    if (reference == null) {
      return lost;
    }
    try {
      ArtifactPlace place = ArtifactPlace.of(parts.cluster(), reference);
      if (!Files.isDirectory(place.folder())) {
        throw new IOException(
            "%s: expected the folder of a namespace, got none: the store may not be mounted yet"
                .formatted(place.folder()));
      }
      Optional<ArtifactStatus> artifact = read(place, Work.Phase.PUBLISHING);
      return artifact.isPresent()
          ? OperationResult.done("Ended", "the node rebooted after the artifact was stored")
              .leaving(WorkloadState.ENDED, ConditionValue.FALSE, null)
              .with(artifact.get())
          // The operator reports the artifact as Ready if the operation names it.
          : lost.with(status -> status.setArtifact(null));
    } catch (ApiUnreachable e) {
      throw e;
    } catch (IOException | Refused e) {
      // It stays named: it may be undamaged, and it is the only copy. A restore reads every byte.
      LOG.log(Level.WARNING, "Artifact not verified after a reboot: " + operation.name(), e);
      return lost;
    }
  }

  private Optional<ArtifactStatus> read(ArtifactPlace place, Work.Phase phase) throws IOException {
    if (!place.exists()) {
      return Optional.empty();
    }
    ArtifactReader reader = new ArtifactReader(Progress.NONE);
    boolean digested = phase != Work.Phase.PUBLISHING;
    Opened opened = digested ? reader.whole(place.path(), null) : reader.open(place.path(), null);
    return opened instanceof Opened.Verified verified
            && place.reference().uid().equals(verified.artifact().manifest().origin().id())
        ? Optional.of(
            place.status(
                parts.nodeName(), verified.artifact().manifest(), verified.artifact().sha256()))
        : Optional.empty();
  }
}
