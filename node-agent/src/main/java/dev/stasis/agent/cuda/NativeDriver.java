package dev.stasis.agent.cuda;

import java.util.List;
import java.util.Map;

/**
 * The driver's libraries in the calling process (the worker). Calls block for as long as the driver
 * does and may never return. Thread-safe.
 */
public interface NativeDriver {

  /** A result and the one number that it returned; the number has no meaning after an error. */
  record Reading(int result, int value) {}

  /** Loads libcuda unless it is loaded. The calls below are made only if it is present. */
  DriverAvailability availability();

  /** Returns the driver's name for a result. */
  String resultName(int result);

  /** Calls {@code cuInit}, once in this process, and returns its result. */
  int init();

  Reading state(int pid);

  Reading restoreThread(int pid);

  int lock(int pid, int timeoutMillis);

  int checkpoint(int pid);

  int restore(int pid, List<GpuPair> map);

  int unlock(int pid);

  /** Returns whether persistence mode is known to be on for every GPU. */
  boolean persistence();

  /** Returns NVML's information; a node without NVML is a result, not an error. */
  NodeGpus gpus();

  /** Returns the bytes that a process uses on each GPU, or why NVML does not report them. */
  GpuMemory memoryOf(int pid);

  /**
   * Device memory of a process.
   *
   * @param availability of NVML
   * @param bytes bytes on each GPU that it uses
   */
  record GpuMemory(DriverAvailability availability, Map<GpuUuid, Long> bytes) {
    public GpuMemory {
      bytes = Map.copyOf(bytes);
    }
  }
}
