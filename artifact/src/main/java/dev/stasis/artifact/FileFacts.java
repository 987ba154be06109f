package dev.stasis.artifact;

import java.util.Objects;

/** Size in bytes and SHA-256, in lower-case hex, of one file. */
public record FileFacts(long size, String sha256) {
  public FileFacts {
    Objects.requireNonNull(sha256, "sha256");
  }
}
