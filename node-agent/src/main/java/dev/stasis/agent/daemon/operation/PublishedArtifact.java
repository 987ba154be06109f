package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.lang.System.Logger.Level;
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
      if (!place.exists()) {
        return Optional.empty();
      }
      ArtifactReader reader = new ArtifactReader(Progress.NONE);
      boolean digested = phase != Work.Phase.PUBLISHING;
      Opened opened = digested ? reader.whole(place.path(), null) : reader.open(place.path(), null);
      if (opened instanceof Opened.Verified verified
          && reference.uid().equals(verified.artifact().manifest().origin().id())) {
        return Optional.of(
            place.status(
                parts.nodeName(), verified.artifact().manifest(), verified.artifact().sha256()));
      }
    } catch (ApiUnreachable e) {
      throw e;
    } catch (IOException | Refused e) {
      LOG.log(Level.WARNING, "artifact of " + operation.name(), e);
    }
    return Optional.empty();
  }
}
