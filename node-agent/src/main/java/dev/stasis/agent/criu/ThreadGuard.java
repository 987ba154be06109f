package dev.stasis.agent.criu;

import dev.stasis.agent.process.ChildStart;
import dev.stasis.agent.process.HelperCgroups;
import dev.stasis.agent.process.LogTail;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Records what criu changes in the stopped processes that it dumps, and restores it if criu was
 * ended in the middle: {@code stasis-runtime guard}. Its journal is on disk, so that the agent's
 * successor can do so too.
 */
public final class ThreadGuard {

  /**
   * A thousand threads take 50 ms. The program itself waits 10 s for a process to stop; a machine
   * that needs longer is overloaded.
   */
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  /** If a process ends meanwhile, the program fails; the next run leaves that process out. */
  private static final int TRIES = 3;

  /** KILL takes effect immediately unless it hangs in the kernel. */
  private static final Duration KILL_GRACE = Duration.ofSeconds(10);

  private static final int GONE = 3;

  /** The kernel limits the arguments of a program to 2 MiB, about 47,000 processes. */
  private static final int MOST_AT_ONCE = 10_000;

  private final Path runtime;
  private final Path journal;
  private final Consumer<ProcessHandle> started;

  /**
   * Creates a guard.
   *
   * @param runtime the program stasis-runtime
   * @param journal the file with the recorded state
   * @param started called with each child once it runs; the child outlives the agent, so it must be
   *     recorded
   */
  public ThreadGuard(Path runtime, Path journal, Consumer<ProcessHandle> started) {
    this.runtime = runtime;
    this.journal = journal;
    this.started = started;
  }

  /**
   * Records the current state of the processes. All of them are stopped, and stay stopped.
   *
   * @return the reason for a failure; empty on success
   */
  public Optional<String> save(List<ProcessId> processes) throws InterruptedException {
    return run(with(processes, "save", "--journal", journal.toString())).fault();
  }

  /**
   * Ends the repair mode of the TCP connections of processes that criu has dumped: when it leaves
   * the processes stopped, it leaves the connections in repair mode, in which no data is sent or
   * received. May be repeated.
   *
   * @return the reason for a failure; empty if all connections work
   */
  public Optional<String> calm(List<ProcessId> processes) throws InterruptedException {
    Optional<String> fault = Optional.empty();
    for (int from = 0; from < processes.size() && fault.isEmpty(); from += MOST_AT_ONCE) {
      int to = Math.min(from + MOST_AT_ONCE, processes.size());
      fault = untilNoneEnds(with(processes.subList(from, to), "calm")).fault();
    }
    return fault;
  }

  private static List<String> with(List<ProcessId> processes, String... first) {
    List<String> arguments = new ArrayList<>(List.of(first));
    for (ProcessId process : processes) {
      arguments.add("--process");
      arguments.add(process.pid() + ":" + process.startTime());
    }
    return arguments;
  }

  /** Returns whether a state is recorded and not deleted yet. */
  public boolean saved() {
    return Files.exists(journal);
  }

  /**
   * Restores what criu changed; does nothing if it changed nothing. The processes are stopped, and
   * criu has ended. May be repeated.
   *
   * @return the reason for a failure; empty if everything is restored
   */
  public Optional<String> restore() throws InterruptedException {
    return untilNoneEnds(List.of("restore", "--journal", journal.toString())).fault();
  }

  private Ended untilNoneEnds(List<String> arguments) throws InterruptedException {
    Ended last = run(arguments);
    for (int tries = 1; tries < TRIES && last.code() == GONE; tries++) {
      last = run(arguments);
    }
    return last;
  }

  /** Deletes the record, before any of the processes runs again. */
  public void forget() throws IOException {
    Files.deleteIfExists(journal);
  }

  private record Ended(int code, String said) {
    Optional<String> fault() {
      return code == 0 ? Optional.empty() : Optional.of(said);
    }
  }

  private Ended run(List<String> arguments) throws InterruptedException {
    Ended last = once(arguments);
    for (int tries = 1; tries < ChildStart.TRIES && ChildStart.endedByAKey(last.code()); tries++) {
      last = once(arguments);
    }
    return last;
  }

  private Ended once(List<String> arguments) throws InterruptedException {
    Path errors = journal.resolveSibling(journal.getFileName() + ".errors");
    List<String> command = new HelperCgroups().command(runtime, runtime.toString(), "guard");
    command.addAll(arguments);
    try {
      Process child =
          new ChildStart()
              .start(
                  new ProcessBuilder(command)
                      .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                      .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                      .redirectError(ProcessBuilder.Redirect.to(errors.toFile())));
      started.accept(child.toHandle());
      if (!awaitEnd(child)) {
        return new Ended(-1, "guard: not finished after " + DEADLINE.toSeconds() + " s, killed");
      }
      List<String> said = new LogTail(errors).last(1);
      return new Ended(
          child.exitValue(), said.isEmpty() ? "guard: code " + child.exitValue() : said.get(0));
    } catch (IOException e) {
      return new Ended(-1, "guard: " + e.getMessage());
    }
  }

  /** It is not interrupted: an incomplete run would have to be repeated. */
  private static boolean awaitEnd(Process child) throws InterruptedException {
    try {
      if (child.waitFor(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)) {
        return true;
      }
      kill(child);
      return false;
    } catch (InterruptedException e) {
      kill(child);
      throw e;
    }
  }

  private static void kill(Process child) throws InterruptedException {
    var unused = child.destroyForcibly().waitFor(KILL_GRACE.toMillis(), TimeUnit.MILLISECONDS);
  }
}
