package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStatus;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A signal that ends the workload and waits for it to go on: a kubelet that shuts its node down, or
 * holds the container for dead, sends it without a word to the API server, and so does a person.
 * What was written down may hold it, and would end as soon as it came back.
 */
final class PendingEnd {

  /** What runtimes send unless the image names another one. HUP is no end: it reads settings. */
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

  PendingEnd(Freeze freeze) {
    this.freeze = freeze;
  }

  /** Looks at what the container's first process got, and at those to whom it passes it on. */
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
            "process %s: wanted no signal that ends it before the workload is written down, found %s: it was told to end meanwhile"
                .formatted(process, signal));
      }
    }
  }
}
