package dev.stasis.agent.cuda;

import java.util.Optional;

/**
 * The driver's state of a process ({@code CUprocessState}). The driver reports CHECKPOINTED, and
 * LOCKED during a Restore, while the copy is still running: see {@link SettledState}.
 */
public enum CudaState {
  /** CUDA calls work. Next: LOCKED. */
  RUNNING(0),
  /** CUDA calls block, the GPU is still held. Next: RUNNING, CHECKPOINTED, CHECKPOINTING. */
  LOCKED(1),
  /** The device memory is in the process, the GPU is free. Next: LOCKED, RESTORING. */
  CHECKPOINTED(2),
  /** The process can only be ended. Next: none. */
  FAILED(3),
  /** Driver 615 with custom storage only. Next: CHECKPOINTED. */
  CHECKPOINTING(4),
  /** Driver 615 with custom storage only. Next: LOCKED. */
  RESTORING(5);

  private final int code;

  CudaState(int code) {
    this.code = code;
  }

  /** The driver's number of the state. */
  public int code() {
    return code;
  }

  /** Empty for a number that only a newer driver knows. */
  public static Optional<CudaState> of(int code) {
    return code >= 0 && code < values().length ? Optional.of(values()[code]) : Optional.empty();
  }
}
