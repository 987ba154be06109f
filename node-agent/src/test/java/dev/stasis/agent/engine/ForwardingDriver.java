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

/** A driver that passes every call on to another one, for tests that change some of the answers. */
abstract class ForwardingDriver implements CudaDriver {

  private final CudaDriver driver;

  ForwardingDriver(CudaDriver driver) {
    this.driver = driver;
  }

  @Override
  public DriverAnswer<CudaCall> state(ProcessId process, Duration deadline) {
    return driver.state(process, deadline);
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

  @Override
  public DriverAnswer<Map<GpuUuid, Long>> memoryOf(ProcessId process, Duration deadline) {
    return driver.memoryOf(process, deadline);
  }
}
