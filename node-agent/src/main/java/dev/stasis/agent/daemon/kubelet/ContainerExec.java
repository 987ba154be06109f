package dev.stasis.agent.daemon.kubelet;

import java.time.Duration;
import java.util.List;

/** Runs a command in a container, as {@code kubectl exec} does. */
public interface ContainerExec {

  /**
   * Runs the command and waits for its end.
   *
   * @param containerId the runtime's id
   * @param command program and arguments; no shell is added
   * @param deadline the runtime kills the command after this time, in whole seconds
   * @throws NodeApiException if the runtime does not answer
   */
  Result run(String containerId, List<String> command, Duration deadline) throws NodeApiException;

  /** The result. */
  sealed interface Result {

    /**
     * The command exited.
     *
     * @param exitCode 0 on success
     * @param output the end of its output, standard error last; at most 4 KiB
     */
    record Exited(int exitCode, String output) implements Result {}

    /** It was still running at its deadline. */
    record TimedOut(Duration deadline) implements Result {}

    /** It could not be started; the message is the runtime's. */
    record NotStarted(String why) implements Result {}
  }
}
