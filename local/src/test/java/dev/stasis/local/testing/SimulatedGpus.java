package dev.stasis.local.testing;

import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.cuda.WorkerSettings;
import dev.stasis.local.gpu.GpuSupply;
import dev.stasis.local.host.HostProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** Simulated GPUs of a test, in a folder of their own on a tmpfs. */
public final class SimulatedGpus implements AutoCloseable {

  /** The worker is a JVM that has to start on a loaded machine. */
  private static final Duration ASK = Duration.ofSeconds(60);

  private final HostProgram host = new HostProgram();
  private final Path build = Path.of("../sim-gpu/target").toAbsolutePath().normalize();
  private final Path folder;

  private SimulatedGpus(Path folder) {
    this.folder = folder;
  }

  /** Makes GPUs of 256 MiB each. */
  public static SimulatedGpus make(int count) {
    try {
      SimulatedGpus gpus =
          new SimulatedGpus(Files.createTempDirectory(Path.of("/dev/shm"), "stasis-local"));
      gpus.host.must(
          gpus.build.resolve("sim-gpu-node").toString(),
          gpus.folder.toString(),
          Integer.toString(count),
          "256");
      return gpus;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What stands for them. */
  public Path folder() {
    return folder;
  }

  /** What a program that uses them has to know. */
  public Map<String, String> environment() {
    return Map.of(
        "STASIS_SIM_GPU",
        folder.toString(),
        "STASIS_LIBCUDA",
        libcuda().toString(),
        "STASIS_LIBNVML",
        build.resolve("libnvidia-ml.so.1").toString());
  }

  /** They as pods can have them. */
  public GpuSupply supply() {
    WorkerSettings settings = WorkerSettings.here(folder).withEnvironment(environment());
    try (DriverWorker worker = new DriverWorker(settings)) {
      DriverAnswer<NodeGpus> answer = worker.gpus(ASK);
      if (answer instanceof DriverAnswer.Done<NodeGpus> done) {
        return GpuSupply.simulated(done.value(), folder, libcuda());
      }
      throw new IllegalStateException(answer.describe());
    }
  }

  /** The workload. */
  public Path counter() {
    return build.resolve("gpu-counter");
  }

  /** The simulated driver library. */
  public Path libcuda() {
    return build.resolve("libcuda.so.1");
  }

  @Override
  public void close() {
    host.attempt("rm", "-rf", folder.toString());
  }
}
