package dev.stasis.artifact;

import java.time.Instant;
import java.util.Objects;

/**
 * A file on a volume that was open at the dump and is not part of the artifact.
 *
 * @param path its path in the container
 * @param size bytes
 */
public record VolumeFile(String path, long size, Instant modified) {
  public VolumeFile {
    Objects.requireNonNull(path, "path");
    Objects.requireNonNull(modified, "modified");
  }
}
