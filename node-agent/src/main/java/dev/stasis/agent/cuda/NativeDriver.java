package dev.stasis.agent.cuda;

import java.util.List;
import java.util.Map;

/**
 * The driver's libraries beneath the worker, in the process that calls this. Calls block for as
 * long as the driver does and may never return. Safe from many threads.
 */
public interface NativeDriver {

  /** A result and the one number that came with it; the number means nothing with an error. */
  record Reading(int result, int value) {}

  /** Loads libcuda unless that was done. The calls below are made only when it is present. */
  DriverAvailability availability();

  /** The driver's name for a result. */
  String resultName(int result);

  /** {@code cuInit}, once in this process; its result. */
  int init();

  Reading state(int pid);

  Reading restoreThread(int pid);

  int lock(int pid, int timeoutMillis);

  int checkpoint(int pid);

  int restore(int pid, List<GpuPair> map);

  int unlock(int pid);

  /** Whether persistence mode is known to be on for every GPU. */
  boolean persistence();

  /** What NVML says; a node without it is an answer. */
  NodeGpus gpus();

  /** Bytes that a process holds on each GPU, or why NVML does not say. */
  GpuMemory memoryOf(int pid);

  /**
   * Device memory of a process.
   *
   * @param availability of NVML
   * @param bytes on each GPU where it holds any
   */
  record GpuMemory(DriverAvailability availability, Map<GpuUuid, Long> bytes) {
    public GpuMemory {
      bytes = Map.copyOf(bytes);
    }
  }
}
