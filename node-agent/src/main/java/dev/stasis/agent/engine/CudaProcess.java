package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import java.util.Map;

/**
 * A process with GPU state.
 *
 * @param restoreThread its thread that does the driver's work
 * @param deviceBytes bytes of device memory by GPU uuid, before the checkpoint
 */
public record CudaProcess(ProcessId process, int restoreThread, Map<GpuUuid, Long> deviceBytes) {

  public CudaProcess {
    deviceBytes = Map.copyOf(deviceBytes);
  }

  /** Returns the device bytes on all GPUs. */
  public long totalBytes() {
    return deviceBytes.values().stream().mapToLong(Long::longValue).sum();
  }
}
