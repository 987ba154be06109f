package dev.stasis.agent.daemon.operation;

import java.io.IOException;
import java.util.Optional;

/** The implementation of one type of operation. */
interface Job {

  /**
   * Executes it.
   *
   * @throws Refused if a check refuses it, before anything was changed
   * @throws Stopped if it was ended before anything was changed
   * @throws IOException if the API server, the runtime or the kubelet did not answer, and nothing
   *     was changed
   */
  OperationResult run(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException;

  /**
   * Executes the part before it occupies the GPUs, while it has only the pod exclusively.
   *
   * @return its result; empty if it needs the GPUs
   */
  default Optional<OperationResult> prepare(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    return Optional.empty();
  }

  /** An operation was ended before anything was changed: canceled, or its deadline passed. */
  final class Stopped extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean outOfTime;

    Stopped(String why, boolean outOfTime) {
      super(why);
      this.outOfTime = outOfTime;
    }

    /** Returns whether its deadline passed; otherwise it was canceled. */
    boolean outOfTime() {
      return outOfTime;
    }
  }
}
