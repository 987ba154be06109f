package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.direct.Gate;
import dev.stasis.agent.process.ProcessId;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The device memory that a workload needs when the keeper gives its memory back: for a moment each
 * allocation exists twice, in the keeper and as fresh memory of the process. Allocations are given
 * back one after the other, so the largest one decides.
 */
final class WayBack {

  private final GuardedDriver driver;
  private final GpuGate gpuGate;

  WayBack(GuardedDriver driver, GpuGate gpuGate) {
    this.driver = driver;
    this.gpuGate = gpuGate;
  }

  /** Returns which GPU has too little free memory, with both numbers; empty when none has. */
  Optional<String> missing(Map<ProcessId, Gate> gates) throws StepFailure {
    Map<GpuUuid, Long> largest = new TreeMap<>();
    for (Map.Entry<ProcessId, Gate> one : gates.entrySet()) {
      long most = one.getValue().largest();
      driver
          .memoryOf(one.getKey())
          .forEach((gpu, bytes) -> largest.merge(gpu, Math.min(bytes, most), Math::max));
    }
    return gpuGate
        .missing(largest)
        .map(missing -> missing + ", required for a second copy of the largest allocation");
  }
}
