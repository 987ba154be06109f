package dev.stasis.e2e.kube;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs programs, each with an end. */
final class Shell {

  /** Longer than the longest wait that a scenario passes to kubectl ({@link Scenario#PATIENCE}). */
  static final Duration LIMIT = Duration.ofMinutes(4);

  /** What a program said, and how it ended. */
  record Result(int code, String output) {
    boolean ok() {
      return code == 0;
    }
  }

  /** A program that had to end well did not. */
  static final class Failed extends AssertionError {

    private static final long serialVersionUID = 1L;

    Failed(String message) {
      super(message);
    }
  }

  private final Map<String, String> environment;

  Shell() {
    this(Map.of());
  }

  Shell(Map<String, String> environment) {
    this.environment = Map.copyOf(environment);
  }

  /** Runs a program that has to end well, and gives what it said. */
  String must(String... command) {
    Result result = run(command);
    if (!result.ok()) {
      throw new Failed(
          "%s: ended with %d: %s"
              .formatted(String.join(" ", command), result.code(), result.output()));
    }
    return result.output();
  }

  Result run(String... command) {
    return feed("", command);
  }

  /** The same, with something to read for it. */
  Result feed(String input, String... command) {
    // Through files: a child that outlives the program would keep a pipe open.
    try {
      Path in = Files.createTempFile("stasis-e2e", ".in");
      Path out = Files.createTempFile("stasis-e2e", ".out");
      try {
        Files.writeString(in, input);
        ProcessBuilder builder =
            new ProcessBuilder(List.of(command))
                .redirectErrorStream(true)
                .redirectInput(in.toFile())
                .redirectOutput(out.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (!process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
          process.destroyForcibly().waitFor();
          return new Result(124, Files.readString(out) + "\nended after " + LIMIT);
        }
        return new Result(
            process.exitValue(), new String(Files.readAllBytes(out), StandardCharsets.UTF_8));
      } finally {
        Files.deleteIfExists(in);
        Files.deleteIfExists(out);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
