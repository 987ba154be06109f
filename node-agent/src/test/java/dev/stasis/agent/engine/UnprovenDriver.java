package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.Map;

/** A driver that restores and unlocks, and then says that something is missing. */
final class UnprovenDriver extends ForwardingDriver {

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

  private final Missing missing;

  UnprovenDriver(CudaDriver driver, Missing missing) {
    super(driver);
    this.missing = missing;
  }

  @Override
  public DriverAnswer<CudaCall> state(ProcessId process, Duration deadline) {
    DriverAnswer<CudaCall> answer = super.state(process, deadline);
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
      case RUN -> super.memoryOf(process, deadline);
      case MEMORY -> new DriverAnswer.Done<>(Map.of());
      case ANSWER -> new DriverAnswer.TimedOut<>(deadline);
      case FREED ->
          super.state(process, deadline) instanceof DriverAnswer.Done<CudaCall> done
                  && done.value().state() == CudaState.RUNNING
              ? new DriverAnswer.Done<>(Map.of())
              : super.memoryOf(process, deadline);
    };
  }
}
