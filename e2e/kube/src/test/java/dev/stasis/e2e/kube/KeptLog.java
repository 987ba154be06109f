package dev.stasis.e2e.kube;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What a pod prints until it is gone, by {@code kubectl logs --follow}. */
final class KeptLog implements AutoCloseable {

  /** The log ends with its container; kubectl says so within moments. */
  private static final long END_SECONDS = 60;

  private final Process process;
  private final Path file;

  private KeptLog(Process process, Path file) {
    this.process = process;
    this.file = file;
  }

  static KeptLog follow(Scenario scenario, String pod) {
    try {
      Path file = Files.createTempFile("stasis-e2e", ".log");
      Process process =
          new ProcessBuilder(
                  "kubectl",
                  "--namespace",
                  scenario.namespace(),
                  "logs",
                  "--follow",
                  pod,
                  "-c",
                  Workload.CONTAINER)
              .redirectErrorStream(true)
              .redirectOutput(file.toFile())
              .start();
      // From here on nothing is missed, however late it was begun.
      scenario.until("the log of pod " + pod, () -> Files.size(file) > 0);
      return new KeptLog(process, file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All of it, once the pod is gone. */
  List<String> lines() {
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError("kubectl logs --follow: the pod is gone, its log does not end");
      }
      return Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
