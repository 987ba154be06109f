package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.DriverAnswer;

/** What follows a driver call that did not come back. */
interface DriverRecovery {

  /**
   * Ends the worker that waits, waits until the process's own thread has finished what the driver
   * began (it does, whoever asked is dead or not), and reads the state afresh.
   *
   * @param process in doubt
   * @param why the sentence for the log
   */
  DriverAnswer<CudaCall> replaceAndSettle(CudaProcess process, String why)
      throws InterruptedException;
}
