package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.direct.Gate;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The device memory that a workload needs when the keeper gives its memory back: for a moment each
 * allocation exists twice, in the keeper and as fresh memory of the process. Allocations are given
 * back one after the other, so the largest one decides.
 */
final class WayBack {

  /** The driver answers in a millisecond; half a minute means that it is in trouble. */
  private static final Duration QUESTION_DEADLINE = Duration.ofSeconds(30);

  private final CudaDriver driver;
  private final GpuGate gpuGate;

  WayBack(CudaDriver driver, GpuGate gpuGate) {
    this.driver = driver;
    this.gpuGate = gpuGate;
  }

  /** Returns which GPU has too little free memory, with both numbers; empty when none has. */
  Optional<String> missing(Map<ProcessId, Gate> gates) throws StepFailure {
    Map<GpuUuid, Long> largest = new TreeMap<>();
    for (Map.Entry<ProcessId, Gate> one : gates.entrySet()) {
      long most = one.getValue().largest();
      memoryOf(one.getKey())
          .forEach((gpu, bytes) -> largest.merge(gpu, Math.min(bytes, most), Math::max));
    }
    return gpuGate
        .missing(largest)
        .map(missing -> missing + ", required for a second copy of the largest allocation");
  }

  private Map<GpuUuid, Long> memoryOf(ProcessId process) throws StepFailure {
    DriverAnswer<Map<GpuUuid, Long>> answer = driver.memoryOf(process, QUESTION_DEADLINE);
    if (answer instanceof DriverAnswer.Done<Map<GpuUuid, Long>> done) {
      return done.value();
    }
    throw new StepFailure(
        Reason.DRIVER_ERROR,
        "cannot determine the device memory of process %s: %s"
            .formatted(process, answer.describe()));
  }
}
