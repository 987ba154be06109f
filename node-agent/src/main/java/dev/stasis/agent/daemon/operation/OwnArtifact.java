package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Opened;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Whether an artifact is the one that an operation names, and its namespace's. */
final class OwnArtifact {

  private static final String REFUSED = "ArtifactRefused";

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

  /**
   * Refuses to delete an artifact of another object. A damaged manifest cannot say whose it is;
   * then the folder has to be the one that the operator named after the object: its name ends with
   * the object's uid, which no other object ever has. Without this rule a damaged artifact could
   * never be deleted.
   *
   * @param folder of the artifact, in the folder of its namespace
   */
  static void requireDeletable(ArtifactReference wanted, Path folder) throws Refused {
    Fault damage;
    try {
      Opened opened = new ArtifactReader(1, (done, total) -> {}).inspect(folder);
      if (opened instanceof Opened.Verified found) {
        require(wanted, found.artifact().manifest());
        return;
      }
      Opened.Refused refused = (Opened.Refused) opened;
      damage = Faults.of(REFUSED, refused.property(), refused.wanted(), refused.found());
    } catch (IOException e) {
      damage = Faults.of(REFUSED, "artifact", "a manifest that can be read", String.valueOf(e));
    }
    String name = String.valueOf(folder.getFileName());
    if (wanted.uid().isBlank() || !name.endsWith("-" + wanted.uid())) {
      throw new Refused(
          List.of(
              damage,
              Faults.of(
                  REFUSED,
                  "folder of the damaged artifact",
                  "one whose name ends with -" + wanted.uid(),
                  wanted.location())));
    }
  }
}
