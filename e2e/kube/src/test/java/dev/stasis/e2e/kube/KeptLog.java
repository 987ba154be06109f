package dev.stasis.e2e.kube;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** What a pod prints until it is gone, by {@code kubectl logs --follow}. */
final class KeptLog implements AutoCloseable {

  /** The log ends with its container; kubectl says so within moments, on a busy machine later. */
  private static final long END_SECONDS = 240;

  private final Process process;
  private final Path file;

  private KeptLog(Process process, Path file) {
    this.process = process;
    this.file = file;
  }

  static KeptLog follow(Scenario scenario, String pod) {
    try {
      Path file = Files.createTempFile("stasis-e2e", ".log");
      AtomicReference<Process> process = new AtomicReference<>(start(scenario, pod, file));
      // From here on nothing is missed, however late it was begun. A busy node may refuse to tell.
      scenario.until(
          "the log of pod " + pod,
          () -> {
            if (Files.size(file) == 0 && !Present.in("kubectl", process.get()).isAlive()) {
              process.set(start(scenario, pod, file));
            }
            return Files.size(file) > 0;
          });
      return new KeptLog(Present.in("kubectl", process.get()), file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Process start(Scenario scenario, String pod, Path file) throws IOException {
    return new ProcessBuilder(
            "kubectl",
            "--namespace",
            scenario.namespace(),
            "logs",
            "--follow",
            pod,
            "-c",
            Workload.CONTAINER)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .redirectOutput(file.toFile())
        .start();
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
