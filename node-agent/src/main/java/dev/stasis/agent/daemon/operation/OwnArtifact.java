package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.artifact.Manifest;

/** Whether an artifact is the one that an operation names, and its namespace's. */
final class OwnArtifact {

  private OwnArtifact() {}

  static void require(ArtifactReference wanted, Manifest found) throws Refused {
    Manifest.Origin origin = found.origin();
    if (!wanted.namespace().equals(origin.namespace()) || !wanted.uid().equals(origin.id())) {
      throw new Refused(
          Faults.of(
              "OtherNamespace",
              "owner of artifact " + wanted.location(),
              wanted.namespace() + " " + wanted.uid(),
              origin.namespace() + " " + origin.id()));
    }
  }
}
