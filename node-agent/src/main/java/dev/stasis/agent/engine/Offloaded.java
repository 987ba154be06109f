package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A process with large allocations that the keeper takes over.
 *
 * @param ownPid its pid in its own namespace, which names its files
 * @param deviceBytes all of its device memory by GPU uuid, before the keeper took over any
 * @param file path of its memory, without {@code .data} and {@code .chunks}, if the keeper no
 *     longer holds it; null if the keeper holds it until it is given back
 */
public record Offloaded(
    ProcessId process, int ownPid, Map<GpuUuid, Long> deviceBytes, @Nullable String file) {

  public Offloaded {
    deviceBytes = Map.copyOf(deviceBytes);
  }

  /** Returns the device bytes on all GPUs. */
  public long totalBytes() {
    return deviceBytes.values().stream().mapToLong(Long::longValue).sum();
  }
}
