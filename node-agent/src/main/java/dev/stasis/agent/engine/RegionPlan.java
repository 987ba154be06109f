package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.Region;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The plan for the regions of one process.
 *
 * @param process the process
 * @param ownPid its pid in its own namespace, which names its files in the artifact
 * @param host the regions that are not device memory
 * @param regionsFile the list for the mover
 * @param stage the file that receives the bytes
 * @param journal records the state of each chunk
 */
record RegionPlan(
    ProcessId process,
    int ownPid,
    List<Region> regions,
    List<Region> host,
    Path regionsFile,
    Path stage,
    Path journal) {

  RegionPlan {
    regions = List.copyOf(regions);
    host = List.copyOf(host);
  }

  /** Writes regions in the mover's format. */
  static void write(Path file, List<Region> regions) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (Region region : regions) {
      lines
          .append(Long.toHexString(region.address()))
          .append(' ')
          .append(region.length())
          .append('\n');
    }
    Files.writeString(file, lines);
  }

  long bytes() {
    return regions.stream().mapToLong(Region::length).sum();
  }
}
