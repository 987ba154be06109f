package dev.stasis.artifact;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The regions of one process (device memory and other large memory): their addresses, the file with
 * their bytes, and the table of their chunks. The data file has no digest of its own, because the
 * table contains one for each chunk.
 *
 * @param ownPid the pid of the process in its own namespace
 * @param data the file with the bytes, relative to the artifact
 * @param dataSize the data file's length in bytes, including holes
 * @param storedBytes bytes in chunks that are not all zeros
 * @param chunks the file with the table, relative to the artifact
 * @param chunkCount number of chunks in the table
 * @param regions addresses of the bytes
 * @param host the regions that are not device memory; null if unknown
 */
public record RegionSet(
    int ownPid,
    String data,
    long dataSize,
    long storedBytes,
    String chunks,
    int chunkCount,
    List<Region> regions,
    @Nullable List<Region> host) {
  public RegionSet {
    Objects.requireNonNull(data, "data");
    Objects.requireNonNull(chunks, "chunks");
    regions = List.copyOf(regions);
    host = host == null ? null : List.copyOf(host);
  }
}
