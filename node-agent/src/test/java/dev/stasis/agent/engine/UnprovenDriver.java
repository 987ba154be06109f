package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuPair;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A driver that restores and unlocks, and then says that something is missing.
 *
 * @param driver does the work
 * @param missing what is missing
 */
record UnprovenDriver(CudaDriver driver, Missing missing) implements CudaDriver {

  /** What a proof can miss. */
  enum Missing {
    /** The process is still LOCKED. */
    RUN,
    /** The process has no device memory. */
    MEMORY,
    /** The driver does not say how much device memory the process has. */
    ANSWER,
    /** The program has freed its device memory as soon as it could. */
    FREED
  }

  @Override
  public DriverAnswer<CudaCall> state(ProcessId process, Duration deadline) {
    DriverAnswer<CudaCall> answer = driver.state(process, deadline);
    if (missing == Missing.RUN
        && answer instanceof DriverAnswer.Done<CudaCall> done
        && done.value().state() == CudaState.RUNNING) {
      CudaCall call = done.value();
      return new DriverAnswer.Done<>(
          new CudaCall(call.result(), null, CudaState.LOCKED, 0, call.took()));
    }
    return answer;
  }

  @Override
  public DriverAnswer<Map<GpuUuid, Long>> memoryOf(ProcessId process, Duration deadline) {
    return switch (missing) {
      case RUN -> driver.memoryOf(process, deadline);
      case MEMORY -> new DriverAnswer.Done<>(Map.of());
      case ANSWER -> new DriverAnswer.TimedOut<>(deadline);
      case FREED ->
          driver.state(process, deadline) instanceof DriverAnswer.Done<CudaCall> done
                  && done.value().state() == CudaState.RUNNING
              ? new DriverAnswer.Done<>(Map.of())
              : driver.memoryOf(process, deadline);
    };
  }

  @Override
  public DriverAnswer<CudaCall> restoreThread(ProcessId process, Duration deadline) {
    return driver.restoreThread(process, deadline);
  }

  @Override
  public DriverAnswer<CudaCall> lock(ProcessId process, Duration timeout, Duration deadline) {
    return driver.lock(process, timeout, deadline);
  }

  @Override
  public DriverAnswer<CudaCall> checkpoint(ProcessId process, Duration deadline) {
    return driver.checkpoint(process, deadline);
  }

  @Override
  public DriverAnswer<CudaCall> restore(ProcessId process, List<GpuPair> map, Duration deadline) {
    return driver.restore(process, map, deadline);
  }

  @Override
  public DriverAnswer<CudaCall> unlock(ProcessId process, Duration deadline) {
    return driver.unlock(process, deadline);
  }

  @Override
  public DriverAnswer<NodeGpus> gpus(Duration deadline) {
    return driver.gpus(deadline);
  }
}
