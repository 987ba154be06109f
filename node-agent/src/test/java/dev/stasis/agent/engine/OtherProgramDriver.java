package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.CudaResult;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;

/** A driver that answers for one process as for a program without CUDA. */
final class OtherProgramDriver extends ForwardingDriver {

  private final ProcessId changed;

  OtherProgramDriver(CudaDriver driver, ProcessId changed) {
    super(driver);
    this.changed = changed;
  }

  @Override
  public DriverAnswer<CudaCall> state(ProcessId process, Duration deadline) {
    return process.equals(changed)
        ? new DriverAnswer.Done<>(
            new CudaCall(
                new CudaResult(CudaResult.NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"),
                null,
                null,
                0,
                Duration.ZERO))
        : super.state(process, deadline);
  }
}
