package dev.stasis.artifact;

import java.util.List;
import java.util.Objects;

/**
 * The device regions of one process: their addresses, the file with their bytes, and the table of
 * their chunks. The data file has no digest of its own: the table, which has one, holds a digest of
 * each chunk.
 *
 * @param ownPid the pid of the process as the process sees it
 * @param data the file with the bytes, relative to the artifact
 * @param dataSize the data file's length in bytes, holes counted
 * @param storedBytes bytes in chunks that are not all zeros
 * @param chunks the file with the table, relative to the artifact
 * @param chunkCount how many chunks the table has
 * @param regions where the bytes belong
 */
public record RegionSet(
    int ownPid,
    String data,
    long dataSize,
    long storedBytes,
    String chunks,
    int chunkCount,
    List<Region> regions) {
  public RegionSet {
    Objects.requireNonNull(data, "data");
    Objects.requireNonNull(chunks, "chunks");
    regions = List.copyOf(regions);
  }
}
