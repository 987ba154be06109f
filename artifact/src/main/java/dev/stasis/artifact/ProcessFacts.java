package dev.stasis.artifact;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One process of the tree at the dump.
 *
 * @param hostPid its pid as the node saw it
 * @param startTime ticks since boot, field 22 of its stat: with the pid, the process itself
 * @param nsPids its pids from the outermost namespace to its own
 * @param command its arguments
 * @param cuda whether the driver knew it
 * @param gpuBytes device memory in bytes by the uuid of the GPU
 * @param stopped true for one that somebody else had stopped, which stays so; null for all others
 * @param threads those of its threads that are not as every thread is; an older artifact has none
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
      throw new IllegalArgumentException("nsPids: wanted at least one pid, found none");
    }
  }

  /** Whether it was stopped before anybody froze it. */
  public boolean wasStopped() {
    return Boolean.TRUE.equals(stopped);
  }

  /** The pid that the process itself sees. */
  public int ownPid() {
    return Objects.requireNonNull(nsPids.get(nsPids.size() - 1));
  }
}
