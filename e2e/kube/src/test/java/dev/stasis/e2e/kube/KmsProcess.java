package dev.stasis.e2e.kube;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A KMS plugin in a process of its own, on a socket of this machine, which is both nodes. It has
 * the same keys after a restart.
 */
final class KmsProcess implements AutoCloseable {

  private static final String PLUGIN = "dev.stasis.agent.daemon.remote.FakeKmsPlugin";

  private final Scenario scenario;
  private final Path folder;
  private Process process;

  private KmsProcess(Scenario scenario, Path folder) {
    this.scenario = scenario;
    this.folder = folder;
    this.process = started();
  }

  static KmsProcess start(Scenario scenario) {
    try {
      return new KmsProcess(
          scenario, Files.createTempDirectory(Path.of("/var/tmp"), "stasis-e2e-kms"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path socket() {
    return folder.resolve("kms.sock");
  }

  private Process started() {
    Path built = Checkout.ofThisBuild().root().resolve("node-agent/target");
    try {
      Files.deleteIfExists(socket());
      Process starting =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin/java").toString(),
                  "-Xmx64m",
                  "-cp",
                  "%1$s/test-classes:%1$s/classes:%1$s/lib/*".formatted(built),
                  PLUGIN,
                  socket().toString())
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("log").toFile())
              .start();
      scenario.until("the socket of a KMS plugin", () -> Files.exists(socket()));
      return starting;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void stop() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(10, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }

  void restart() {
    process = started();
  }

  @Override
  public void close() throws InterruptedException {
    stop();
    new Shell().run("rm", "-rf", folder.toString());
  }
}
