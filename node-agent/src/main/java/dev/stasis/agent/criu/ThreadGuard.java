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
 * Keeps what criu changes in the stopped processes that it dumps, and puts it back when criu was
 * ended in the middle: {@code stasis-runtime guard}. Its journal lies on disk, so that a successor
 * can do so too.
 */
public final class ThreadGuard {

  /**
   * A thousand threads take 50 ms. The program itself waits 10 s for a process that does not stop;
   * more than that is a machine in trouble.
   */
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  /** A process that ends meanwhile ends the program too; the next run leaves it out. */
  private static final int TRIES = 3;

  private static final int GONE = 3;

  private final Path runtime;
  private final Path journal;
  private final Consumer<ProcessHandle> started;

  /**
   * A guard.
   *
   * @param runtime the program stasis-runtime
   * @param journal the file that keeps what was saved
   * @param started told each child once it runs: it outlives us, so that somebody has to know of it
   */
  public ThreadGuard(Path runtime, Path journal, Consumer<ProcessHandle> started) {
    this.runtime = runtime;
    this.journal = journal;
    this.started = started;
  }

  /**
   * Saves what the processes are now. All of them are stopped, and stay so.
   *
   * @return why it could not; empty when it is saved
   */
  public Optional<String> save(List<ProcessId> processes) throws InterruptedException {
    return run(with(processes, "save", "--journal", journal.toString())).fault();
  }

  /**
   * Has the TCP connections of processes that criu has dumped work again: it leaves them in repair
   * mode, with data neither sent nor received, when it leaves the processes stopped. May be
   * repeated.
   *
   * @return why it could not; empty when all work
   */
  public Optional<String> calm(List<ProcessId> processes) throws InterruptedException {
    if (processes.isEmpty()) {
      return Optional.empty();
    }
    return untilNoneEnds(with(processes, "calm")).fault();
  }

  private static List<String> with(List<ProcessId> processes, String... first) {
    List<String> arguments = new ArrayList<>(List.of(first));
    for (ProcessId process : processes) {
      arguments.add("--process");
      arguments.add(process.pid() + ":" + process.startTime());
    }
    return arguments;
  }

  /** Whether something was saved and not forgotten yet. */
  public boolean saved() {
    return Files.exists(journal);
  }

  /**
   * Puts back what criu left behind; does nothing where it left nothing. The processes are stopped,
   * and criu has ended. May be repeated.
   *
   * @return why it could not; empty when all is as it was
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

  /** Forgets what was saved: before anything of it runs again. */
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
    List<String> command = new ArrayList<>(List.of(runtime.toString(), "enter"));
    command.addAll(new HelperCgroups().enterOptions());
    command.addAll(List.of("--", runtime.toString(), "guard"));
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
        return new Ended(-1, "guard: not done after " + DEADLINE.toSeconds() + " s, it was ended");
      }
      List<String> said = new LogTail(errors).last(1);
      return new Ended(
          child.exitValue(), said.isEmpty() ? "guard: code " + child.exitValue() : said.get(0));
    } catch (IOException e) {
      return new Ended(-1, "guard: " + e.getMessage());
    }
  }

  /** It is let finish: half of it would have to be done again. */
  private static boolean awaitEnd(Process child) throws InterruptedException {
    try {
      if (child.waitFor(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)) {
        return true;
      }
      child.destroyForcibly().waitFor();
      return false;
    } catch (InterruptedException e) {
      child.destroyForcibly().waitFor();
      throw e;
    }
  }
}
