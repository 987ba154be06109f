package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.process.ProcessId;
import org.jspecify.annotations.Nullable;

/**
 * The verified state of one restored process.
 *
 * @param ownPid its pid in its own namespace
 * @param command its name
 * @param state its state in /proc, one letter
 * @param driverState the driver's state; null for a process without a GPU
 * @param gpuBytes its device memory in bytes
 */
public record ProvenProcess(
    int ownPid,
    ProcessId process,
    String command,
    char state,
    @Nullable CudaState driverState,
    long gpuBytes) {

  @Override
  public String toString() {
    return driverState == null
        ? "%s %s, %s".formatted(process, command, state)
        : "%s %s, %d bytes".formatted(process, driverState, gpuBytes);
  }
}
