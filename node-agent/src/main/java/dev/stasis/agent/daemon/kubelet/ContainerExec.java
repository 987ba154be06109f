package dev.stasis.agent.daemon.kubelet;

import java.time.Duration;
import java.util.List;

/** Runs a command in a container, as {@code kubectl exec} does. */
public interface ContainerExec {

  /**
   * Runs it and waits for its end.
   *
   * @param containerId the runtime's id
   * @param command program and arguments; no shell is put before them
   * @param deadline after which the runtime kills it; whole seconds count
   * @throws NodeApiException when the runtime does not answer
   */
  Result run(String containerId, List<String> command, Duration deadline) throws NodeApiException;

  /** How it ended. */
  sealed interface Result {

    /**
     * By itself.
     *
     * @param exitCode 0 when all is well
     * @param output the end of what it wrote, standard error last; at most 4 KiB
     */
    record Exited(int exitCode, String output) implements Result {}

    /** It was still running at its deadline. */
    record TimedOut(Duration deadline) implements Result {}

    /** It could not be started; the runtime's own words. */
    record NotStarted(String why) implements Result {}
  }
}
