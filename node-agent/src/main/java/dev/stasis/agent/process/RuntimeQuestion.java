package dev.stasis.agent.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Runs {@code stasis-runtime} to read data of a process that requires being in its namespaces or
 * tracing it.
 *
 * @param runtime the program stasis-runtime
 * @param command {@code addresses}, {@code connections}, {@code filters} or {@code ipc}
 * @param mostLines maximum length of the answer; a workload can open any number of sockets
 */
public record RuntimeQuestion(Path runtime, String command, int mostLines) {

  /** The kernel answers in milliseconds; a machine that needs longer is overloaded. */
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  /**
   * Returns the lines of the answer.
   *
   * @param process a process of the namespace
   * @param more further options of the command
   * @throws IOException if the answer is incomplete, with the reason
   */
  public List<String> ask(ProcessId process, String... more)
      throws IOException, InterruptedException {
    List<String> words =
        new ArrayList<>(
            List.of(
                runtime.toString(),
                command,
                "--pid",
                Integer.toString(process.pid()),
                "--start",
                Long.toString(process.startTime())));
    words.addAll(List.of(more));
    Process child =
        new ChildStart()
            .start(
                new ProcessBuilder(words)
                    .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectErrorStream(true));
    CompletableFuture.delayedExecutor(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
        .execute(child::destroyForcibly);
    List<String> lines = new ArrayList<>();
    try (BufferedReader output = child.inputReader(StandardCharsets.UTF_8)) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        if (lines.size() == mostLines) {
          throw new IOException(
              "%s: expected at most %d lines, got more".formatted(command, mostLines));
        }
        lines.add(line);
      }
      if (!child.waitFor(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IOException(
            "%s: expected an answer within %d s".formatted(command, DEADLINE.toSeconds()));
      }
      if (child.exitValue() != 0) {
        throw new IOException(command + ": " + String.join("; ", lines));
      }
    } finally {
      child.destroyForcibly();
    }
    return lines;
  }
}
