package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverDeadline;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.SettledState;
import dev.stasis.agent.process.ProcFs;
import java.time.Duration;

/**
 * Recovers from a call that did not return: replaces the worker, then reads the state once the
 * process's own thread is idle.
 */
final class WorkerRecovery {

  /** GetState of an idle process answers in a millisecond. */
  private static final Duration STATE_DEADLINE = Duration.ofSeconds(30);

  private final DriverWorker worker;
  private final ProcFs proc;

  WorkerRecovery(DriverWorker worker, ProcFs proc) {
    this.worker = worker;
    this.proc = proc;
  }

  /**
   * Ends the waiting worker, waits until the process's own thread has finished what the driver
   * began (which does not depend on the caller), and reads the state.
   *
   * @param process the process with an unknown state
   * @param why the message for the log
   */
  DriverAnswer<CudaCall> replaceAndSettle(CudaProcess process, String why)
      throws InterruptedException {
    worker.replace(why);
    return settle(process, why);
  }

  /** The same without a call of this worker: the one that may still run is that of another. */
  DriverAnswer<CudaCall> settle(CudaProcess process, String why) {
    // The call's own deadline is granted once more: the driver's own thread may still have all of
    // its work to do.
    Duration patience = DriverDeadline.forBytes(process.totalBytes()).checkpoint();
    SettledState.Outcome outcome =
        new SettledState(proc)
            .await(worker, process.process(), process.restoreThread(), patience, STATE_DEADLINE);
    if (outcome instanceof SettledState.Outcome.Settled settled) {
      return settled.state();
    }
    if (outcome instanceof SettledState.Outcome.StillBusy busy) {
      return new DriverAnswer.TimedOut<>(busy.waited());
    }
    return new DriverAnswer.WorkerLost<>(why + "; process " + process.process() + " has ended");
  }
}
