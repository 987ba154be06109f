package dev.stasis.agent.cuda;

import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The driver's checkpoint calls on other processes of this node. No call throws for what the
 * driver, the process or the worker does; calls for different processes run side by side, a second
 * one for a process that has one running is refused as {@link Refusal#PROCESS_BUSY}.
 *
 * <p>Every call takes a deadline; when it is over the caller gets {@link DriverAnswer.TimedOut} and
 * decides. The driver's own work goes on.
 */
public interface CudaDriver {

  /** Blocks while a Checkpoint populates its region: seen for seconds. */
  DriverAnswer<CudaCall> state(ProcessId process, Duration deadline);

  /**
   * Which thread does the driver's work; {@link CudaResult#notCuda} tells a process without CUDA.
   */
  DriverAnswer<CudaCall> restoreThread(ProcessId process, Duration deadline);

  /**
   * RUNNING to LOCKED, when the work already submitted is done.
   *
   * @param timeout for the driver: then 600 NOT_READY, still RUNNING; at least a millisecond, since
   *     the driver takes 0 for ever
   */
  DriverAnswer<CudaCall> lock(ProcessId process, Duration timeout, Duration deadline);

  /** LOCKED to CHECKPOINTED. Deadline: {@link DriverDeadline}. */
  DriverAnswer<CudaCall> checkpoint(ProcessId process, Duration deadline);

  /**
   * CHECKPOINTED to LOCKED. There is no second try after it failed for want of device memory:
   * whoever calls has looked at the free memory and holds the lock of each GPU.
   *
   * @param map all GPUs that the process saw, or nothing for the same ones in the same order
   */
  DriverAnswer<CudaCall> restore(ProcessId process, List<GpuPair> map, Duration deadline);

  /** LOCKED to RUNNING. */
  DriverAnswer<CudaCall> unlock(ProcessId process, Duration deadline);

  /** {@code cuDriverGetVersion}: 12080, 13000, ... */
  DriverAnswer<Integer> driverVersion(Duration deadline);

  /** What this node has; a node without a driver is an answer, not an error. */
  DriverAnswer<NodeGpus> gpus(Duration deadline);

  /** Bytes of device memory that the process holds, on each GPU where it holds any. */
  DriverAnswer<Map<GpuUuid, Long>> memoryOf(ProcessId process, Duration deadline);
}
