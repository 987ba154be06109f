package dev.stasis.agent.daemon.operation;

import java.io.IOException;

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
}
