package dev.stasis.artifact;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One process of the tree at the dump.
 *
 * @param hostPid its pid as the node saw it
 * @param startTime ticks since boot, field 22 of its stat; identifies the process together with the
 *     pid
 * @param nsPids its pids from the outermost namespace to its own
 * @param command its command line
 * @param cuda whether the driver reports it as a CUDA process
 * @param gpuBytes device memory in bytes by the uuid of the GPU
 * @param stopped true for one that was stopped before the freeze, which stays stopped; null for all
 *     others
 * @param threads its threads with settings that differ from the default; empty in older artifacts
 */
public record ProcessFacts(
    int hostPid,
    long startTime,
    List<Integer> nsPids,
    List<String> command,
    boolean cuda,
    Map<String, Long> gpuBytes,
    @Nullable Boolean stopped,
    List<ThreadFacts> threads) {
  public ProcessFacts {
    nsPids = List.copyOf(nsPids);
    command = List.copyOf(command);
    gpuBytes = Map.copyOf(gpuBytes);
    threads = List.copyOf(Objects.requireNonNullElse(threads, List.of()));
    if (nsPids.isEmpty()) {
      throw new IllegalArgumentException("nsPids: expected at least one pid, got none");
    }
  }

  /** Returns whether it was stopped before the freeze. */
  public boolean wasStopped() {
    return Boolean.TRUE.equals(stopped);
  }

  /** The pid that the process itself sees. */
  public int ownPid() {
    return Objects.requireNonNull(nsPids.get(nsPids.size() - 1));
  }
}
