package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.process.ProcessId;
import org.jspecify.annotations.Nullable;

/**
 * What was seen of one restored process.
 *
 * @param ownPid its pid as it sees itself
 * @param process the process
 * @param command its name
 * @param state its state in /proc, one letter
 * @param driverState what the driver says of it; null for one without GPU
 * @param gpuBytes device memory that it holds again, in bytes
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
