package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.WorkerSettings;
import dev.stasis.agent.testing.SimGpuNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/** An engine with simulated GPUs, folders and a driver worker of its own. */
final class EngineLab implements AutoCloseable {

  private final SimGpuNode gpus;
  private final Path folder;
  private final Path state;
  private final Path memoryStage;
  private final DriverWorker worker;
  private final NodeEngine engine;

  EngineLab(int gpuCount, int mib) {
    this(gpuCount, mib, "stasis-runtime");
  }

  private EngineLab(int gpuCount, int mib, String runtimeName) {
    try {
      gpus = SimGpuNode.make(gpuCount, mib);
      folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-lab");
      state = Files.createTempDirectory(Path.of("/dev/shm"), "stasis-state");
      memoryStage = Files.createTempDirectory(Path.of("/dev/shm"), "stasis-stage");
      Files.createDirectories(store());
      worker =
          new DriverWorker(
              WorkerSettings.here(state)
                  .withEnvironment(
                      Map.of(
                          "STASIS_LIBCUDA", gpus.libcuda().toString(),
                          "STASIS_LIBNVML", gpus.libnvml().toString(),
                          "STASIS_SIM_GPU", gpus.folder().toString())));
      engine =
          new NodeEngine(
              new EngineSettings(
                  state,
                  memoryStage,
                  folder.resolve("criu"),
                  runtime().resolveSibling(runtimeName),
                  criu(),
                  "4.2.1",
                  2),
              worker,
              Clock.systemUTC());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Path runtime() {
    return Path.of(System.getProperty("stasis.runtime", "../runtime/target/stasis-runtime"))
        .toAbsolutePath()
        .normalize();
  }

  static Path criu() {
    return Path.of(System.getProperty("stasis.criu", "../.tools/bin/criu")).toAbsolutePath();
  }

  SimGpuNode gpus() {
    return gpus;
  }

  NodeEngine engine() {
    return engine;
  }

  DriverWorker worker() {
    return worker;
  }

  Path store() {
    return folder.resolve("store");
  }

  Path state() {
    return state;
  }

  Path memoryStage() {
    return memoryStage;
  }

  CheckpointRequest request(String container, After after) {
    String id = UUID.randomUUID().toString();
    return new CheckpointRequest(
        id,
        "a-" + id.substring(0, 8),
        "test",
        null,
        container,
        store(),
        after,
        CheckpointRequest.Options.defaults(),
        null,
        Set.of());
  }

  CheckpointRequest request(String container, After after, CheckpointRequest.DataPathChoice path) {
    CheckpointRequest usual = request(container, after);
    CheckpointRequest.Options options = usual.options();
    return new CheckpointRequest(
        usual.id(),
        usual.name(),
        usual.owner(),
        usual.namespace(),
        usual.container(),
        usual.store(),
        usual.after(),
        new CheckpointRequest.Options(
            options.lockTimeout(),
            options.stagePlace(),
            path,
            options.tcp(),
            options.thpAlways(),
            options.allowPeerToPeer(),
            options.threads()),
        usual.image(),
        usual.packedMounts());
  }

  CheckpointOutcome checkpoint(CheckpointRequest request) throws InterruptedException {
    return engine
        .checkpoint()
        .run(
            request,
            OperationControl.within(Clock.systemUTC(), Duration.ofMinutes(5)),
            StepListener.NONE);
  }

  RestoreOutcome restore(Path artifact, String target) throws InterruptedException {
    return engine
        .restore()
        .run(
            new RestoreRequest(
                UUID.randomUUID().toString(),
                "test",
                null,
                artifact,
                null,
                target,
                RestoreRequest.Options.defaults()),
            OperationControl.within(Clock.systemUTC(), Duration.ofMinutes(5)),
            StepListener.NONE);
  }

  @Override
  public void close() {
    worker.close();
    gpus.close();
    for (Path path : new Path[] {folder, state, memoryStage}) {
      try (Stream<Path> entries = Files.walk(path)) {
        for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(entry);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
