package dev.stasis.local.testing;

import dev.stasis.local.StasisLocal;
import dev.stasis.local.host.HostProgram;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** The single-machine mode as people start it: a process of its own, the operator beside it. */
public final class SingleMachine implements AutoCloseable {

  public static final String IMAGE = "stasis/gpu-counter:local";

  /** Two JVMs start; a loaded machine is given time. */
  private static final Duration READY = Duration.ofSeconds(300);

  /** What is in hand is finished first. */
  private static final Duration END = Duration.ofSeconds(120);

  private static final Path OPERATOR = Path.of("../operator/target/quarkus-app/quarkus-run.jar");
  private static final Path RUNTIME = Path.of("../runtime/target/stasis-runtime");

  private final HostProgram host = new HostProgram();
  private final SimulatedGpus gpus = SimulatedGpus.make(1);
  private final Path folder;
  private final Process process;
  private final KubernetesClient client;

  private SingleMachine() throws IOException {
    this.folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-single");
    Path log = folder.resolve("local.log");
    ProcessBuilder builder =
        new ProcessBuilder(command())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .redirectInput(ProcessBuilder.Redirect.PIPE);
    builder.environment().putAll(gpus.environment());
    this.process = builder.start();
    Path kubeconfig = folder.resolve("kubeconfig");
    Awaitility.await("the single-machine mode answers")
        .atMost(READY)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> Files.exists(kubeconfig) || !process.isAlive());
    if (!process.isAlive()) {
      throw new IllegalStateException(Files.readString(log));
    }
    this.client =
        new KubernetesClientBuilder()
            .withConfig(Config.fromKubeconfig(kubeconfig.toFile()))
            .build();
  }

  /** What is missing for it, in words for a person; empty when nothing is. */
  public static Optional<String> missing() {
    return Stream.of(OPERATOR, RUNTIME, criu())
        .filter(file -> !Files.exists(file))
        .map(file -> "there is no " + file.normalize())
        .findFirst();
  }

  private static Path criu() {
    return Path.of(System.getProperty("stasis.criu", "../.tools/bin/criu"));
  }

  public static SingleMachine start() {
    try {
      return new SingleMachine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<String> command() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-cp",
        System.getProperty("java.class.path"),
        StasisLocal.class.getName(),
        "--folder",
        folder.toString(),
        "--libcuda",
        gpus.libcuda().toString(),
        "--simulated-gpus",
        gpus.folder().toString(),
        "--criu",
        criu().toAbsolutePath().normalize().toString(),
        "--runtime",
        RUNTIME.toString(),
        "--operator",
        OPERATOR.toString(),
        "--program-image",
        IMAGE + "=" + gpus.counter(),
        "--state-dir",
        gpus.folder().resolve("state").toString(),
        "--memory-stage",
        gpus.folder().resolve("stage").toString(),
        "--until-input-ends");
  }

  public KubernetesClient client() {
    return client;
  }

  /** Where things lie. */
  public Path folder() {
    return folder;
  }

  /** The workload, which also judges what it has printed. */
  public Path counter() {
    return gpus.counter();
  }

  /** Ends it as the death of whoever started it would. */
  public void endItsInput() {
    try {
      process.getOutputStream().close();
      if (!process.waitFor(END.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError("the single-machine mode goes on without its input");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public void close() {
    client.close();
    endItsInput();
    host.must("rm", "-rf", "--one-file-system", folder.toString());
    gpus.close();
  }
}
