package dev.stasis.store;

/**
 * How large blobs are written to a store, and what that takes in memory.
 *
 * @param partBytes bytes of each part of a blob but the last
 * @param parts parts in memory at a time, over all blobs: being filled or being written
 * @param blobs blobs that are written at a time
 */
public record UploadLimits(int partBytes, int parts, int blobs) {

  /** Checks that each blob can have a part, so that no blob waits for another one forever. */
  public UploadLimits {
    if (partBytes < 1 || blobs < 1 || parts < blobs) {
      throw new IllegalArgumentException(
          "expected at least one part for each blob, got %d parts of %d bytes for %d blobs"
              .formatted(parts, partBytes, blobs));
    }
  }

  /**
   * Returns whether no further part of a blob can be filled while one is being written. Another
   * thread would then only move the part out of the cache of the processor that filled it.
   */
  boolean onePartPerBlob() {
    return parts == blobs;
  }

  /**
   * Returns how many threads fill parts: where other threads write them, one that compresses keeps
   * two connections busy, and each takes several MiB.
   */
  int fillingThreads(int most) {
    return onePartPerBlob() ? most : Math.min(most, Math.max(1, parts / 2));
  }
}
