package dev.stasis.agent.cuda;

/**
 * The result of a driver call ({@code CUresult}).
 *
 * @param code the driver's error code
 * @param name the driver's name for it, for example {@code CUDA_ERROR_ILLEGAL_STATE}
 */
public record CudaResult(int code, String name) {

  public static final int SUCCESS = 0;
  public static final int INVALID_VALUE = 1;

  /** On a Restore: it cannot be retried; every further call returns {@link #OPERATING_SYSTEM}. */
  public static final int OUT_OF_MEMORY = 2;

  /** The process does not use CUDA. */
  public static final int NOT_INITIALIZED = 3;

  public static final int STUB_LIBRARY = 34;
  public static final int NO_DEVICE = 100;

  /** The process is gone, or an earlier failure left it unusable. */
  public static final int OPERATING_SYSTEM = 304;

  /** The call is invalid in this state; nothing was changed. */
  public static final int ILLEGAL_STATE = 401;

  public static final int NOT_FOUND = 500;

  /** On a Lock: it timed out, and the process keeps running. */
  public static final int NOT_READY = 600;

  /**
   * On a Checkpoint: the process uses managed memory. On a Restore: a GPU or its device node is
   * missing, or P2P.
   */
  public static final int NOT_SUPPORTED = 801;

  public static final int SYSTEM_NOT_READY = 802;
  public static final int SYSTEM_DRIVER_MISMATCH = 803;
  public static final int UNKNOWN = 999;

  public boolean succeeded() {
    return code == SUCCESS;
  }

  /** Returns whether GetRestoreThreadId reports that the process does not use CUDA. */
  public boolean notCuda() {
    return code == NOT_INITIALIZED || code == INVALID_VALUE;
  }

  @Override
  public String toString() {
    return code + " " + name;
  }
}
