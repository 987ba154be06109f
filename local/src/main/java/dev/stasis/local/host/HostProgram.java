package dev.stasis.local.host;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program; its output goes to a file, so that none of its children can block the caller. */
public final class HostProgram {

  /** mount, runc and similar programs end within a second; this allows for a loaded machine. */
  private static final Duration USUAL = Duration.ofSeconds(60);

  /** The result. */
  public sealed interface Result {

    /** It exited; with its output. */
    record Ended(int code, String output) implements Result {}

    /** It was killed at its deadline. */
    record TimedOut(String output) implements Result {}
  }

  /** Runs it and waits until it exits. */
  public Result run(Duration deadline, List<String> command) {
    try {
      Path output = Files.createTempFile("stasis-local", ".out");
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(output.toFile())
                .start();
        boolean ended = process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS);
        if (!ended) {
          process.destroyForcibly().waitFor();
        }
        String text = new String(Files.readAllBytes(output), StandardCharsets.UTF_8);
        return ended ? new Result.Ended(process.exitValue(), text) : new Result.TimedOut(text);
      } finally {
        Files.deleteIfExists(output);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run " + command, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new IOException("interrupted: " + command, e));
    }
  }

  /** Runs it and requires exit code 0. */
  public String must(String... command) {
    Result result = run(USUAL, List.of(command));
    if (result instanceof Result.Ended ended && ended.code() == 0) {
      return ended.output();
    }
    throw new UncheckedIOException(
        new IOException(String.join(" ", command) + ": " + result.toString().strip()));
  }

  /** Runs a cleanup command; it may find nothing to do. */
  public boolean attempt(String... command) {
    return run(USUAL, List.of(command)) instanceof Result.Ended ended && ended.code() == 0;
  }
}
