package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.CudaResult;
import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverDeadline;
import dev.stasis.agent.cuda.GpuPair;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The driver's calls as the engine makes them: each ends in its target state, or fails with a
 * message. A call that did not return is never repeated; the state that the driver reaches decides.
 */
final class GuardedDriver {

  /** GetState answers in a millisecond; while a region is filled it waits for seconds. */
  private static final Duration STATE_DEADLINE = Duration.ofSeconds(30);

  /** Added to the driver's lock timeout: the communication with the worker. */
  private static final Duration LOCK_SLACK = Duration.ofSeconds(10);

  /** Unlock takes about a millisecond; after a minute it hangs. */
  private static final Duration UNLOCK_DEADLINE = Duration.ofSeconds(60);

  private final CudaDriver driver;
  private final WorkerRecovery recovery;

  GuardedDriver(CudaDriver driver, WorkerRecovery recovery) {
    this.driver = driver;
    this.recovery = recovery;
  }

  CudaState state(CudaProcess process) throws StepFailure, InterruptedException {
    return stateIn(getState(process), process, "GetState");
  }

  /**
   * Returns the state for an undo; empty if nothing is left to undo, because the process runs
   * another program by now (exec), which does not use CUDA. The other processes must not stay
   * frozen for that.
   */
  Optional<CudaState> stateLeft(CudaProcess process) throws StepFailure, InterruptedException {
    DriverAnswer<CudaCall> answer = getState(process);
    return answer instanceof DriverAnswer.Done<CudaCall> done && done.value().result().notCuda()
        ? Optional.empty()
        : Optional.of(stateIn(answer, process, "GetState"));
  }

  private DriverAnswer<CudaCall> getState(CudaProcess process) throws InterruptedException {
    DriverAnswer<CudaCall> answer = driver.state(process.process(), STATE_DEADLINE);
    return inDoubt(answer) ? recovery.replaceAndSettle(process, answer.describe()) : answer;
  }

  /** Waits until the driver has finished what an earlier agent may have begun. */
  void settle(CudaProcess process) throws StepFailure, InterruptedException {
    DriverAnswer<CudaCall> answer = recovery.settle(process, "a call of an earlier agent");
    if (answer instanceof DriverAnswer.TimedOut) {
      throw new StepFailure(
          Reason.DRIVER_HANG,
          "process %s: an earlier call still runs in the driver: %s"
              .formatted(process.process(), answer.describe()));
    }
  }

  /** Returns the device memory of a process on each GPU, according to NVML. */
  Map<GpuUuid, Long> memoryOf(ProcessId process) throws StepFailure {
    DriverAnswer<Map<GpuUuid, Long>> answer = driver.memoryOf(process);
    if (answer instanceof DriverAnswer.Done<Map<GpuUuid, Long>> done) {
      return done.value();
    }
    throw new StepFailure(
        Reason.DRIVER_ERROR,
        "cannot determine the device memory of process %s: %s"
            .formatted(process, answer.describe()));
  }

  /** Changes the state from RUNNING to LOCKED. */
  void lock(CudaProcess process, Duration timeout) throws StepFailure, InterruptedException {
    DriverAnswer<CudaCall> answer =
        driver.lock(process.process(), timeout, timeout.plus(LOCK_SLACK));
    if (answer instanceof DriverAnswer.Done<CudaCall> done
        && done.value().result().code() == CudaResult.NOT_READY) {
      throw new StepFailure(
          Reason.LOCK_TIMEOUT,
          ("process %s did not become idle within the lock timeout of %d ms: a kernel is still"
                  + " running, or it waits for another")
              .formatted(process.process(), timeout.toMillis()));
    }
    reach(CudaState.LOCKED, answer, process, "Lock");
  }

  /** Changes the state from LOCKED to CHECKPOINTED. */
  void checkpoint(CudaProcess process) throws StepFailure, InterruptedException {
    DriverAnswer<CudaCall> answer =
        driver.checkpoint(
            process.process(), DriverDeadline.forBytes(process.totalBytes()).checkpoint());
    if (answer instanceof DriverAnswer.Done<CudaCall> done
        && done.value().result().code() == CudaResult.NOT_SUPPORTED) {
      throw new StepFailure(
          Reason.REFUSED,
          ("memory of process %s: expected device memory only, got memory that the driver cannot"
                      + " checkpoint (managed memory,")
                  .formatted(process.process())
              + " or shared between processes); it was unlocked");
    }
    reach(CudaState.CHECKPOINTED, answer, process, "Checkpoint");
  }

  /** Changes the state from CHECKPOINTED to LOCKED. Only within a {@link GpuGate}. */
  void restore(CudaProcess process, List<GpuPair> map) throws StepFailure, InterruptedException {
    DriverAnswer<CudaCall> answer =
        driver.restore(
            process.process(), map, DriverDeadline.forBytes(process.totalBytes()).restore());
    reach(CudaState.LOCKED, answer, process, "Restore");
  }

  /** Changes the state from LOCKED to RUNNING. */
  void unlock(CudaProcess process) throws StepFailure, InterruptedException {
    reach(CudaState.RUNNING, driver.unlock(process.process(), UNLOCK_DEADLINE), process, "Unlock");
  }

  private void reach(
      CudaState wanted, DriverAnswer<CudaCall> answer, CudaProcess process, String call)
      throws StepFailure, InterruptedException {
    if (inDoubt(answer)) {
      String why = answer.describe();
      CudaState found = stateIn(recovery.replaceAndSettle(process, why), process, call);
      if (found != wanted) {
        throw new StepFailure(
            Reason.DRIVER_HANG,
            "%s of process %s: %s; afterwards the driver reports %s, expected %s"
                .formatted(call, process.process(), why, found, wanted));
      }
      return;
    }
    if (answer instanceof DriverAnswer.Done<CudaCall> done && done.value().succeeded()) {
      // Result 0 with another state was never seen; in that case the state counts.
      CudaState found = done.value().stateAfter().orElse(wanted);
      if (found == wanted) {
        return;
      }
    }
    if (answer instanceof DriverAnswer.Done<CudaCall> done
        && done.value().stateAfter().filter(wanted::equals).isPresent()
        && done.value().result().code() == CudaResult.ILLEGAL_STATE) {
      return; // It was in that state already: the call had no effect.
    }
    throw new StepFailure(
        Reason.DRIVER_ERROR,
        "%s of process %s: expected %s, got %s"
            .formatted(call, process.process(), wanted, describe(answer)));
  }

  private static boolean inDoubt(DriverAnswer<CudaCall> answer) {
    return answer instanceof DriverAnswer.TimedOut || answer instanceof DriverAnswer.WorkerLost;
  }

  private static CudaState stateIn(DriverAnswer<CudaCall> answer, CudaProcess process, String call)
      throws StepFailure {
    if (answer instanceof DriverAnswer.Done<CudaCall> done
        && done.value().stateAfter().isPresent()) {
      return done.value().stateAfter().get();
    }
    throw new StepFailure(
        Reason.DRIVER_ERROR,
        "%s of process %s: no state, %s".formatted(call, process.process(), describe(answer)));
  }

  private static String describe(DriverAnswer<CudaCall> answer) {
    if (answer instanceof DriverAnswer.Done<CudaCall> done) {
      return "the driver's result "
          + done.value().result()
          + done.value().stateAfter().map(state -> ", state " + state).orElse("");
    }
    return answer.describe();
  }
}
