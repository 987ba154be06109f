package dev.stasis.agent.engine;

import dev.stasis.artifact.Region;
import java.nio.file.Path;
import java.util.List;

/**
 * Where the regions of one process go.
 *
 * @param process whose
 * @param ownPid its pid as it sees it, which names its files in the artifact
 * @param regions its regions
 * @param regionsFile the list for the mover
 * @param stage the file that takes the bytes
 * @param journal what happened to each chunk
 */
record RegionPlan(
    CudaProcess process,
    int ownPid,
    List<Region> regions,
    Path regionsFile,
    Path stage,
    Path journal) {

  RegionPlan {
    regions = List.copyOf(regions);
  }

  long bytes() {
    return regions.stream().mapToLong(Region::length).sum();
  }
}
