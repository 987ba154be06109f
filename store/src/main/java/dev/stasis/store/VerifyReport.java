package dev.stasis.store;

import java.util.List;

/**
 * What reading every byte of an artifact in a store showed.
 *
 * @param chunks how many chunks were read
 * @param bytes how many stored bytes were read
 * @param damages what is not as it was written, a thousand at most; empty: the artifact is whole
 */
public record VerifyReport(ArtifactId id, long chunks, long bytes, List<Damage> damages) {
  /** Something that is not as it was written, and where: a file of the artifact, or a pack. */
  public record Damage(String where, String cause) {}

  /** Returns whether the artifact can be fetched. */
  public boolean whole() {
    return damages.isEmpty();
  }
}
