package dev.stasis.artifact;

import java.util.Objects;

/** Size in bytes and digest of one file: its SHA-256 in lower-case hex, or {@link FileDigests}. */
public record FileFacts(long size, String sha256) {
  public FileFacts {
    Objects.requireNonNull(sha256, "sha256");
  }
}
