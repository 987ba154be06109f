package dev.stasis.store;

/** How compressible chunks are compressed; every store can read all formats. */
public enum Compression {
  /** No compression. */
  NONE,
  /** For stores that are faster than zstd: a local disk, a fast file server. */
  LZ4,
  /** For stores behind a network. */
  ZSTD
}
