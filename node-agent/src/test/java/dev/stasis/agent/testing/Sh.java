package dev.stasis.agent.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a program and gives what it printed; its output goes to a file, so that no child of it can
 * hold us up.
 */
public final class Sh {

  /** The programs of tests (runc, mount) end in a second; a loaded machine is given time. */
  private static final long LIMIT_SECONDS = 60;

  /** What a program did. */
  public record Result(int code, String output) {}

  public Result run(String... command) {
    return run(List.of(command));
  }

  public Result run(List<String> command) {
    try {
      Path output = Files.createTempFile("stasis-sh", ".out");
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly().waitFor();
          throw new IllegalStateException(command + " ran longer than " + LIMIT_SECONDS + " s");
        }
        return new Result(
            process.exitValue(), new String(Files.readAllBytes(output), StandardCharsets.UTF_8));
      } finally {
        Files.deleteIfExists(output);
      }
    } catch (IOException e) {
      throw new IllegalStateException("cannot run " + command, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted: " + command, e);
    }
  }

  /** As {@link #run}, and it has to end with 0. */
  public String must(String... command) {
    Result result = run(command);
    if (result.code() != 0) {
      throw new IllegalStateException(
          String.join(" ", command) + " ended with " + result.code() + ": " + result.output());
    }
    return result.output();
  }
}
