package dev.stasis.store;

/**
 * Names an artifact in a store.
 *
 * @param namespaceUid the UID of the Kubernetes namespace; chunks are shared only within it
 * @param artifactUid the UID of the checkpoint
 */
public record ArtifactId(String namespaceUid, String artifactUid) {
  private static final String VALID = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}";

  public ArtifactId {
    requireValid("namespace UID", namespaceUid);
    requireValid("artifact UID", artifactUid);
  }

  static boolean isValid(String uid) {
    return uid.matches(VALID);
  }

  private static void requireValid(String property, String uid) {
    if (!isValid(uid)) {
      throw new IllegalArgumentException(
          property
              + ": expected 1 to 128 letters, digits, '.', '_' or '-', the first a letter or digit,"
              + " got \""
              + uid
              + "\"");
    }
  }

  @Override
  public String toString() {
    return namespaceUid + "/" + artifactUid;
  }
}
