package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStatus;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A pending signal that will end the workload when it resumes. A kubelet that shuts its node down,
 * or whose probe failed, sends it without informing the API server, and so may a user. An artifact
 * may contain the pending signal, and a restored workload would end immediately.
 */
final class PendingTermination {

  /**
   * The default signals of runtimes, unless the image names another one. HUP does not count: it
   * reloads settings.
   */
  private enum Signal {
    SIGINT(2),
    SIGQUIT(3),
    SIGTERM(15);

    private final int number;

    Signal(int number) {
      this.number = number;
    }
  }

  private final Freeze freeze;

  PendingTermination(Freeze freeze) {
    this.freeze = freeze;
  }

  /**
   * Checks the signals of the container's first process, and of the processes to which it forwards
   * them.
   */
  void check() throws StepFailure {
    ProcFs proc = freeze.node().proc();
    ProcessId init = freeze.work().init();
    for (ProcessId process :
        Stream.concat(Stream.of(init), freeze.work().tree().stream()).distinct().toList()) {
      Optional<ProcessStatus> status =
          proc.status(process.pid()).filter(found -> freeze.alive(process));
      if (status.isPresent() && (process.equals(init) || status.get().ppid() == init.pid())) {
        check(process, status.get());
      }
    }
  }

  private static void check(ProcessId process, ProcessStatus status) throws StepFailure {
    for (Signal signal : Signal.values()) {
      if (status.isPending(signal.number)) {
        throw new StepFailure(
            Reason.TOLD_TO_END,
            ("process %s: expected no terminating signal before the workload is dumped, got %s:"
                    + " it was told to end in the meantime")
                .formatted(process, signal));
      }
    }
  }
}
