package dev.stasis.artifact;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A sync of a staged file or folder has failed, and what was written to it may be lost. Linux
 * reports that once: a repeated sync succeeds without the lost bytes, and what is read by then may
 * be old. The artifact must not be published from that stage, also not by a later writer.
 */
public final class FailedSyncException extends IOException {
  private static final long serialVersionUID = 1L;

  FailedSyncException(Path fileOrFolder, IOException cause) {
    super(
        "cannot sync %s, and bytes that were written to it may be lost: %s"
            .formatted(fileOrFolder, cause.getMessage()),
        cause);
  }
}
