package dev.stasis.artifact;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A readable artifact.
 *
 * @param path its folder
 * @param sha256 the digest of its manifest, which identifies it
 */
public record Artifact(Path path, Manifest manifest, String sha256) {

  /** Enough for the chunks of 2 TiB in one process, each with its digest. */
  private static final long MOST_TABLE_BYTES = 32 << 20;

  /** The folder with criu's images. */
  public Path criu() {
    return path.resolve("criu");
  }

  /** The folder with the files that the workload wrote. */
  public Path layer() {
    return path.resolve("layer");
  }

  /** Returns the file with the bytes of a process's regions. */
  public Path data(RegionSet set) {
    return path.resolve(set.data());
  }

  /**
   * Reads the chunks of a process's regions.
   *
   * @throws IOException if the table does not match the manifest
   */
  public ChunkTable chunks(RegionSet set) throws IOException {
    Path file = path.resolve(set.chunks());
    if (Files.size(file) > MOST_TABLE_BYTES) {
      throw new IOException(
          "%s: expected at most %d bytes, got %d"
              .formatted(set.chunks(), MOST_TABLE_BYTES, Files.size(file)));
    }
    String text = Files.readString(file, StandardCharsets.ISO_8859_1);
    ChunkTable table =
        manifest.deviceSets().contains(set) ? DeviceTable.parse(text) : ChunkTable.parse(text);
    boolean digests = table.chunks().stream().allMatch(c -> c.zero() || c.sha256() != null);
    if (!digests
        || !table.regions().equals(set.regions())
        || table.chunks().size() != set.chunkCount()
        || table.dataSize() > set.dataSize()
        || table.storedBytes() != set.storedBytes()) {
      throw new IOException(
          "%s: expected %d chunks of %d bytes with digests, of %s, got %d chunks of %d bytes, of %s"
              .formatted(
                  set.chunks(),
                  set.chunkCount(),
                  set.storedBytes(),
                  set.regions(),
                  table.chunks().size(),
                  table.storedBytes(),
                  table.regions()));
    }
    return table;
  }
}
