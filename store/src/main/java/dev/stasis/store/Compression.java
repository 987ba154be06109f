package dev.stasis.store;

/** How chunks are compressed that are worth it; every store reads all of them. */
public enum Compression {
  /** Not at all. */
  NONE,
  /** For stores that are faster than zstd: a local disk, a fast file server. */
  LZ4,
  /** For stores behind a network. */
  ZSTD
}
