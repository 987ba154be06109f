package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.process.ProcessId;

/** The outcome of a driver call that a user requested. */
public sealed interface HandOutcome {

  /**
   * The driver answered, successfully or with an error.
   *
   * @param call the last call that was made
   */
  record Answered(ProcessId process, CudaCall call) implements HandOutcome {}

  /** The driver was not called; nothing has changed. */
  record Refused(String why) implements HandOutcome {}

  /** The call did not return: it may still take effect, and must not be repeated. */
  record InDoubt(ProcessId process, String why) implements HandOutcome {}
}
