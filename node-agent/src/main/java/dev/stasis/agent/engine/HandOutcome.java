package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.process.ProcessId;

/** What became of a driver call that a person asked for. */
public sealed interface HandOutcome {

  /**
   * The driver answered, well or with an error of its own.
   *
   * @param call the last call that was made
   */
  record Answered(ProcessId process, CudaCall call) implements HandOutcome {}

  /** The driver was not asked; nothing has changed. */
  record Refused(String why) implements HandOutcome {}

  /** The call did not come back: it may still be carried out, and must not be repeated. */
  record InDoubt(ProcessId process, String why) implements HandOutcome {}
}
