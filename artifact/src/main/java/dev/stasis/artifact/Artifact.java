package dev.stasis.artifact;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * An artifact that can be read.
 *
 * @param path its folder
 * @param sha256 the digest of its manifest, which is its own
 */
public record Artifact(Path path, Manifest manifest, String sha256) {

  /** The chunks of 2 TiB in one process, each with its digest. */
  private static final long MOST_TABLE_BYTES = 32 << 20;

  /** The folder with criu's images. */
  public Path criu() {
    return path.resolve("criu");
  }

  /** The folder with what the workload wrote. */
  public Path layer() {
    return path.resolve("layer");
  }

  /** The file with the bytes of a process's regions. */
  public Path data(RegionSet set) {
    return path.resolve(set.data());
  }

  /**
   * The chunks of a process's regions.
   *
   * @throws IOException when the table is not what the manifest says of it
   */
  public ChunkTable chunks(RegionSet set) throws IOException {
    Path file = path.resolve(set.chunks());
    if (Files.size(file) > MOST_TABLE_BYTES) {
      throw new IOException(
          "%s: expected at most %d bytes, got %d"
              .formatted(set.chunks(), MOST_TABLE_BYTES, Files.size(file)));
    }
    ChunkTable table = ChunkTable.parse(Files.readString(file, StandardCharsets.ISO_8859_1));
    boolean digests = table.chunks().stream().allMatch(c -> c.zero() || c.sha256() != null);
    if (!digests
        || !table.regions().equals(set.regions())
        || table.chunks().size() != set.chunkCount()
        || table.dataSize() > set.dataSize()
        || table.storedBytes() != set.storedBytes()) {
      throw new IOException(
          "%s: wanted %d chunks of %d bytes with digests, of %s, found %d chunks of %d bytes, of %s"
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
