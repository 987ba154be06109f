package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuPair;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A driver with little patience for one of its calls.
 *
 * @param call the call, as the simulated driver names it
 * @param longest the longest deadline of that call
 */
record BriefDriver(CudaDriver driver, String call, Duration longest) implements CudaDriver {

  private Duration brief(String name, Duration deadline) {
    return !name.equals(call) || deadline.compareTo(longest) < 0 ? deadline : longest;
  }

  @Override
  public DriverAnswer<CudaCall> state(ProcessId process, Duration deadline) {
    return driver.state(process, brief("state", deadline));
  }

  @Override
  public DriverAnswer<CudaCall> restoreThread(ProcessId process, Duration deadline) {
    return driver.restoreThread(process, brief("restoreThread", deadline));
  }

  @Override
  public DriverAnswer<CudaCall> lock(ProcessId process, Duration timeout, Duration deadline) {
    return driver.lock(process, timeout, brief("lock", deadline));
  }

  @Override
  public DriverAnswer<CudaCall> checkpoint(ProcessId process, Duration deadline) {
    return driver.checkpoint(process, brief("checkpoint", deadline));
  }

  @Override
  public DriverAnswer<CudaCall> restore(ProcessId process, List<GpuPair> map, Duration deadline) {
    return driver.restore(process, map, brief("restore", deadline));
  }

  @Override
  public DriverAnswer<CudaCall> unlock(ProcessId process, Duration deadline) {
    return driver.unlock(process, brief("unlock", deadline));
  }

  @Override
  public DriverAnswer<NodeGpus> gpus(Duration deadline) {
    return driver.gpus(deadline);
  }

  @Override
  public DriverAnswer<Map<GpuUuid, Long>> memoryOf(ProcessId process, Duration deadline) {
    return driver.memoryOf(process, deadline);
  }
}
