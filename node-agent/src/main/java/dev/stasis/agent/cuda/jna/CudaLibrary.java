package dev.stasis.agent.cuda.jna;

import com.sun.jna.Library;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;

/**
 * The part of libcuda.so.1 that is used. Every checkpoint call takes 64 bytes of arguments in every
 * version since 12.8; zeros are the defaults.
 */
interface CudaLibrary extends Library {

  int cuInit(int flags);

  int cuDriverGetVersion(IntByReference version);

  int cuGetErrorName(int result, PointerByReference name);

  int cuCheckpointProcessGetState(int pid, IntByReference state);

  int cuCheckpointProcessGetRestoreThreadId(int pid, IntByReference thread);

  int cuCheckpointProcessLock(int pid, Pointer arguments);

  int cuCheckpointProcessCheckpoint(int pid, Pointer arguments);

  int cuCheckpointProcessRestore(int pid, Pointer arguments);

  int cuCheckpointProcessUnlock(int pid, Pointer arguments);
}
