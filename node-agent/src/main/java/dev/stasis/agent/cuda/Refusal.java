package dev.stasis.agent.cuda;

/**
 * The reason why the worker did not make a call. The driver was not called, so nothing has changed.
 */
public enum Refusal {
  /** The process has ended, or another process has its pid now. */
  PROCESS_GONE,
  /** A thread of it is stopped: the driver would never return. */
  PROCESS_STOPPED,
  /** One of its cgroups is frozen: the driver would never return. */
  PROCESS_FROZEN,
  /** A debugger, strace or criu traces a thread of it: the driver would never return. */
  PROCESS_TRACED,
  /** Another call for this process has not returned yet. */
  PROCESS_BUSY,
  /** Some of its device memory is still in a stage: a Restore would put zeros on the GPU. */
  REGIONS_NOT_WHOLE,
  /** A map of GPUs was given, but the driver is older than 580 (CUDA 13.0). */
  GPU_MAP_UNSUPPORTED,
  /** cuInit failed, which a Restore without persistence mode needs. */
  CUDA_INIT_FAILED,
  /** The maximum number of parallel calls is running. */
  WORKER_BUSY,
  /** /proc or a journal cannot be read. */
  CANNOT_TELL,
  /** The request is invalid. */
  BAD_REQUEST
}
