package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.operation.ArtifactReference;

/** Finds artifacts, and never one outside of the folder of its namespace. */
final class ArtifactPlaces {

  private final StoreRoots stores;

  ArtifactPlaces(StoreRoots stores) {
    this.stores = stores;
  }

  /**
   * The place of an artifact.
   *
   * @param namespace to which it has to belong
   */
  ArtifactPlace of(ArtifactReference artifact, String namespace) throws Refused, ApiUnreachable {
    if (!artifact.namespace().equals(namespace)) {
      throw new Refused(
          Faults.of("OtherNamespace", "artifact.namespace", namespace, artifact.namespace()));
    }
    String[] parts = artifact.location().split("/", -1);
    // Its name in a folder has to leave room for what a staging folder adds.
    if (parts.length != 2
        || !parts[0].equals(namespace)
        || !parts[1].matches("[A-Za-z0-9][A-Za-z0-9._-]{0,199}")) {
      throw new Refused(
          Faults.of(
              "OtherNamespace",
              "artifact.location",
              namespace + "/NAME with at most 200 letters, digits, dots and dashes",
              artifact.location()));
    }
    StoreRoots.Root root = stores.of(artifact.store());
    return new ArtifactPlace(root.folder().resolve(parts[0]), parts[1], root.nodeLocal());
  }
}
