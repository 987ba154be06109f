package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.DriverAnswer;

/** Handles a driver call that did not return. */
interface DriverRecovery {

  /**
   * Ends the waiting worker, waits until the process's own thread has finished what the driver
   * began (which does not depend on the caller), and reads the state.
   *
   * @param process the process with an unknown state
   * @param why the message for the log
   */
  DriverAnswer<CudaCall> replaceAndSettle(CudaProcess process, String why)
      throws InterruptedException;
}
