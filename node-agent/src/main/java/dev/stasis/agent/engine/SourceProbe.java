package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.direct.Gate;
import dev.stasis.agent.direct.KeeperFailure;
import dev.stasis.agent.mover.JournalReading;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.ThreadStat;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Determines the current state of a workload from observations only. */
final class SourceProbe {

  /**
   * A process that is ending still answers for some time, which the driver reports as a system
   * error; it frees its memory first, which takes seconds for many gigabytes.
   */
  private static final Duration ENDING = Duration.ofSeconds(3);

  private final FrozenWork frozen;

  SourceProbe(FrozenWork frozen) {
    this.frozen = frozen;
  }

  SourceState look() throws InterruptedException {
    SourceState seen = seen();
    if (seen.kind() == SourceState.Kind.FROZEN || seen.kind() == SourceState.Kind.RUNNING) {
      // A crashing process still looks stopped, or locked, or running.
      Optional<ProcessId> ending = processes().filter(this::ending).findFirst();
      if (ending.isPresent()) {
        return ended(ending.get());
      }
    }
    return seen;
  }

  private Stream<ProcessId> processes() {
    Work work = frozen.work();
    return Stream.of(
            Stream.of(work.init()),
            work.cuda().stream().map(CudaProcess::process),
            work.tree().stream())
        .flatMap(each -> each)
        .distinct();
  }

  private boolean ending(ProcessId process) {
    return frozen.node().proc().stat(process).filter(ProcessStat::isEnding).isPresent();
  }

  private SourceState seen() throws InterruptedException {
    Work work = frozen.work();
    if (!frozen.alive(work.init())) {
      return gone(work);
    }
    for (CudaProcess process : work.cuda()) {
      if (!frozen.alive(process.process())) {
        return ended(process.process());
      }
    }
    for (String journal : work.regionJournals()) {
      JournalReading reading = frozen.node().journals().read(Path.of(journal));
      if (!reading.whole()) {
        return new SourceState(SourceState.Kind.FROZEN, reading.describe());
      }
    }
    for (ProcessId process : work.tree()) {
      if (!work.stoppedBefore().contains(process) && stopped(process)) {
        return new SourceState(SourceState.Kind.FROZEN, "process " + process + " is stopped");
      }
    }
    Optional<SourceState> waiting = gates(work.offloaded());
    return waiting.isPresent() ? waiting.get() : driverStates(work.cuda());
  }

  private static SourceState gone(Work work) {
    return new SourceState(
        SourceState.Kind.GONE, "the workload's first process " + work.init() + " has ended");
  }

  /** One of its processes has ended; often all of them are about to. */
  private SourceState ended(ProcessId process) {
    return ends(frozen.work().init())
        ? gone(frozen.work())
        : new SourceState(SourceState.Kind.UNKNOWN, "its process " + process + " has ended");
  }

  private boolean ends(ProcessId process) {
    return frozen.node().pids().awaitEnd(process, ENDING);
  }

  private boolean stopped(ProcessId process) {
    return frozen.alive(process)
        && frozen.node().proc().threads(process.pid()).stream().anyMatch(ThreadStat::isStopped);
  }

  /** A process at a closed gate makes no progress, whatever the driver reports. */
  private Optional<SourceState> gates(List<Offloaded> offloaded) throws InterruptedException {
    for (Offloaded one : offloaded) {
      try {
        Gate gate = frozen.node().keepers().look(one.process());
        if (gate.state() != Gate.State.OPEN) {
          return Optional.of(
              new SourceState(
                  SourceState.Kind.FROZEN,
                  "process %s is waiting at its gate: %s".formatted(one.process(), gate.state())));
        }
      } catch (KeeperFailure e) {
        if (ends(one.process())) {
          return Optional.of(ended(one.process()));
        }
        if (frozen.node().keepers().active(one.process())) {
          return Optional.of(
              new SourceState(
                  SourceState.Kind.UNKNOWN,
                  "gate of process %s: %s".formatted(one.process(), e.getMessage())));
        }
        // It runs another program by now (exec), which has no gate.
      }
    }
    return Optional.empty();
  }

  private SourceState driverStates(List<CudaProcess> processes) throws InterruptedException {
    List<ProcessId> running = new ArrayList<>();
    List<ProcessId> changed = new ArrayList<>();
    for (CudaProcess process : processes) {
      try {
        Optional<CudaState> state = frozen.node().calls().stateLeft(process);
        if (state.isEmpty()) {
          if (ends(process.process())) {
            return ended(process.process());
          }
          changed.add(process.process());
          continue;
        }
        switch (state.get()) {
          case RUNNING -> running.add(process.process());
          case LOCKED, CHECKPOINTED, CHECKPOINTING, RESTORING -> {
            return new SourceState(
                SourceState.Kind.FROZEN, "process " + process.process() + " is " + state.get());
          }
          case FAILED -> {
            return new SourceState(
                SourceState.Kind.UNKNOWN,
                "the driver reports FAILED for process "
                    + process.process()
                    + "; it must be ended to free the GPU");
          }
        }
      } catch (StepFailure unknown) {
        if (ends(process.process())) {
          return ended(process.process());
        }
        return new SourceState(
            SourceState.Kind.UNKNOWN,
            "cannot determine the state of process %s: %s"
                .formatted(process.process(), unknown.getMessage()));
      }
    }
    return new SourceState(
        SourceState.Kind.RUNNING,
        running.size()
            + " CUDA processes RUNNING: "
            + running
            + (changed.isEmpty() ? "" : "; now with another program: " + changed));
  }
}
