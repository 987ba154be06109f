package dev.stasis.artifact;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One process of the tree at the dump.
 *
 * @param hostPid its pid as the node saw it
 * @param startTime ticks since boot, field 22 of its stat: with the pid, the process itself
 * @param nsPids its pids from the outermost namespace to its own
 * @param command its arguments
 * @param cuda whether the driver knew it
 * @param gpuBytes device memory in bytes by the uuid of the GPU
 */
public record ProcessFacts(
    int hostPid,
    long startTime,
    List<Integer> nsPids,
    List<String> command,
    boolean cuda,
    Map<String, Long> gpuBytes) {
  public ProcessFacts {
    nsPids = List.copyOf(nsPids);
    command = List.copyOf(command);
    gpuBytes = Map.copyOf(gpuBytes);
    if (nsPids.isEmpty()) {
      throw new IllegalArgumentException("nsPids: wanted at least one pid, found none");
    }
  }

  /** The pid that the process itself sees. */
  public int ownPid() {
    return Objects.requireNonNull(nsPids.get(nsPids.size() - 1));
  }
}
