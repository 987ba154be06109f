package dev.stasis.agent.cuda;

/**
 * What a driver call returned ({@code CUresult}).
 *
 * @param code the driver's number
 * @param name the driver's name for it, for example {@code CUDA_ERROR_ILLEGAL_STATE}
 */
public record CudaResult(int code, String name) {

  public static final int SUCCESS = 0;
  public static final int INVALID_VALUE = 1;

  /** On a Restore: there is no second try, every further one gives {@link #OPERATING_SYSTEM}. */
  public static final int OUT_OF_MEMORY = 2;

  /** Of a process: it does not use CUDA. */
  public static final int NOT_INITIALIZED = 3;

  public static final int STUB_LIBRARY = 34;
  public static final int NO_DEVICE = 100;

  /** The process is gone, or it was wedged by an earlier failure. */
  public static final int OPERATING_SYSTEM = 304;

  /** The call does not fit the state; nothing was changed. */
  public static final int ILLEGAL_STATE = 401;

  public static final int NOT_FOUND = 500;

  /** On a Lock: the timeout is over, the process runs on. */
  public static final int NOT_READY = 600;

  /** On a Checkpoint: managed memory. On a Restore: a GPU or its device node is missing, or P2P. */
  public static final int NOT_SUPPORTED = 801;

  public static final int SYSTEM_NOT_READY = 802;
  public static final int SYSTEM_DRIVER_MISMATCH = 803;
  public static final int UNKNOWN = 999;

  public boolean succeeded() {
    return code == SUCCESS;
  }

  /** Whether the process that was asked about uses no CUDA, as GetRestoreThreadId tells it. */
  public boolean notCuda() {
    return code == NOT_INITIALIZED || code == INVALID_VALUE;
  }

  @Override
  public String toString() {
    return code + " " + name;
  }
}
