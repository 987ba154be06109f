package dev.stasis.agent.cuda;

import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The driver's checkpoint calls on other processes of this node. No call throws because of the
 * driver, the process or the worker. Calls for different processes run in parallel; a second one
 * for a process with a running call is refused as {@link Refusal#PROCESS_BUSY}.
 *
 * <p>Every call takes a deadline. After it the caller gets {@link DriverAnswer.TimedOut} and
 * decides. The driver itself continues.
 */
public interface CudaDriver {

  /**
   * For questions that change nothing. Driver and NVML answer in milliseconds; half a minute means
   * that they do not work.
   */
  Duration QUESTION_DEADLINE = Duration.ofSeconds(30);

  /**
   * For the list of GPUs. NVML without persistence mode initializes each GPU first, which takes
   * seconds with eight of them.
   */
  Duration GPUS_DEADLINE = Duration.ofSeconds(60);

  /** {@code cuDriverGetVersion} of the first driver that accepts a map of GPUs: 580. */
  int VERSION_WITH_MAP = 13000;

  /** Blocks while a Checkpoint fills its region, for seconds. */
  DriverAnswer<CudaCall> state(ProcessId process, Duration deadline);

  /**
   * Returns the thread that does the driver's work; {@link CudaResult#notCuda} identifies a process
   * without CUDA.
   */
  DriverAnswer<CudaCall> restoreThread(ProcessId process, Duration deadline);

  /** The same within the usual deadline. */
  default DriverAnswer<CudaCall> restoreThread(ProcessId process) {
    return restoreThread(process, QUESTION_DEADLINE);
  }

  /**
   * Changes the state from RUNNING to LOCKED, once the submitted work has finished.
   *
   * @param timeout passed to the driver, which returns 600 NOT_READY after it, still RUNNING; at
   *     least a millisecond, because 0 means forever
   */
  DriverAnswer<CudaCall> lock(ProcessId process, Duration timeout, Duration deadline);

  /** Changes the state from LOCKED to CHECKPOINTED. Deadline: {@link DriverDeadline}. */
  DriverAnswer<CudaCall> checkpoint(ProcessId process, Duration deadline);

  /**
   * Changes the state from CHECKPOINTED to LOCKED. It cannot be retried after a failure for lack of
   * device memory: the caller must have checked the free memory, and must hold the lock of each
   * GPU.
   *
   * @param map all GPUs that the process saw, or empty for the same ones in the same order
   */
  DriverAnswer<CudaCall> restore(ProcessId process, List<GpuPair> map, Duration deadline);

  /** Changes the state from LOCKED to RUNNING. */
  DriverAnswer<CudaCall> unlock(ProcessId process, Duration deadline);

  /** Returns the GPUs of this node; a node without a driver is a result, not an error. */
  DriverAnswer<NodeGpus> gpus(Duration deadline);

  /** The same within the usual deadline. */
  default DriverAnswer<NodeGpus> gpus() {
    return gpus(QUESTION_DEADLINE);
  }

  /** Returns the bytes of device memory that the process uses on each GPU, where it uses any. */
  DriverAnswer<Map<GpuUuid, Long>> memoryOf(ProcessId process, Duration deadline);

  /** The same within the usual deadline. */
  default DriverAnswer<Map<GpuUuid, Long>> memoryOf(ProcessId process) {
    return memoryOf(process, QUESTION_DEADLINE);
  }
}
