package dev.stasis.agent.cuda;

/** Why the worker did not make a call. The driver was not asked, nothing has changed. */
public enum Refusal {
  /** It ended, or another process has the pid now. */
  PROCESS_GONE,
  /** A thread of it is stopped: the driver would never return. */
  PROCESS_STOPPED,
  /** One of its cgroups is frozen: the driver would never return. */
  PROCESS_FROZEN,
  /** A debugger, strace or criu holds a thread of it: the driver would never return. */
  PROCESS_TRACED,
  /** Another call for this process has not returned yet. */
  PROCESS_BUSY,
  /** Device memory of it still lies in a stage: a Restore would put zeros on the GPU. */
  REGIONS_NOT_WHOLE,
  /** A map of GPUs was given, and the driver is older than 580 (CUDA 13.0). */
  GPU_MAP_UNSUPPORTED,
  /** cuInit, which a Restore without persistence mode needs, failed. */
  CUDA_INIT_FAILED,
  /** As many calls are running as the worker takes at once. */
  WORKER_BUSY,
  /** /proc or a journal cannot be read. */
  CANNOT_TELL,
  /** The request makes no sense. */
  BAD_REQUEST
}
