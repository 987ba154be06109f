package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Verifies that restored processes have their device memory. It is measured while they cannot call
 * the driver: a program may free memory as soon as it runs, for example in a call that has waited
 * since the freeze. Every restore of such an artifact would fail.
 */
final class DeviceMemoryProof {

  /** The driver rounds, and its own contexts differ a little between GPUs. */
  private static final long TOLERANCE_BYTES = 64L << 20;

  private final CudaDriver driver;
  private final Map<ProcessId, Long> complete = new HashMap<>();

  DeviceMemoryProof(CudaDriver driver) {
    this.driver = driver;
  }

  /** Measures these processes, before they can call the driver. Reports nothing. */
  void measure(List<CudaProcess> processes) {
    for (CudaProcess process : processes) {
      var unused = missing(process);
    }
  }

  /**
   * Returns the device memory of a process in bytes. If it was not complete when it was measured,
   * it is measured again.
   */
  long require(CudaProcess process) throws StepFailure {
    if (!complete.containsKey(process.process())) {
      Optional<String> missing = missing(process);
      if (missing.isPresent()) {
        throw new StepFailure(Reason.NOT_PROVEN, missing.get());
      }
    }
    return complete.getOrDefault(process.process(), 0L);
  }

  /** Returns what is missing now; empty if the memory is complete, which is remembered. */
  private Optional<String> missing(CudaProcess process) {
    DriverAnswer<Map<GpuUuid, Long>> answer = driver.memoryOf(process.process());
    if (!(answer instanceof DriverAnswer.Done<Map<GpuUuid, Long>> done)) {
      return Optional.of(
          "cannot determine the device memory of process %s: %s"
              .formatted(process.process(), answer.describe()));
    }
    for (Map.Entry<GpuUuid, Long> wanted : process.deviceBytes().entrySet()) {
      long found = done.value().getOrDefault(wanted.getKey(), 0L);
      if (found < wanted.getValue() - TOLERANCE_BYTES) {
        return Optional.of(
            "device memory of process %s on GPU %s: expected %d bytes, got %d"
                .formatted(process.process(), wanted.getKey(), wanted.getValue(), found));
      }
    }
    complete.put(
        process.process(), done.value().values().stream().mapToLong(Long::longValue).sum());
    return Optional.empty();
  }
}
