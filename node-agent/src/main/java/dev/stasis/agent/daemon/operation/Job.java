package dev.stasis.agent.daemon.operation;

import java.io.IOException;
import java.util.Optional;

/** What is done for one type of operation. */
interface Job {

  /**
   * Does it.
   *
   * @throws Refused when something rules it out and nothing was touched
   * @throws Stopped when it was ended before anything was touched
   * @throws IOException when the API server, the runtime or the kubelet could not be asked, and
   *     nothing was touched
   */
  Ending run(Assignment assignment) throws Refused, Stopped, IOException, InterruptedException;

  /**
   * Does what comes before its turn on the GPUs, while it has only the pod to itself.
   *
   * @return its end; empty: it wants its turn
   */
  default Optional<Ending> prepare(Assignment assignment)
      throws Refused, Stopped, IOException, InterruptedException {
    return Optional.empty();
  }
}
