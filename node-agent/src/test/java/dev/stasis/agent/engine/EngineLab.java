package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.direct.KeeperSettings;
import dev.stasis.agent.testing.ChildClasses;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.SimGpuNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

/** An engine with simulated GPUs, folders and a driver worker of its own. */
public final class EngineLab implements AutoCloseable {

  /** Far beyond any operation here; a test that comes near it has hung. */
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final SimGpuNode gpus;
  private final Path folder;
  private final Path state;
  private final Path memoryStage;
  private final DriverWorker worker;
  private final NodeEngine engine;

  public EngineLab(int gpuCount, int mib) {
    this(SimGpuNode.make(gpuCount, mib));
  }

  public EngineLab(SimGpuNode gpus) {
    this.gpus = gpus;
    try {
      folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-lab");
      state = Files.createTempDirectory(Path.of("/dev/shm"), "stasis-state");
      memoryStage = Files.createTempDirectory(Path.of("/dev/shm"), "stasis-stage");
      Files.createDirectories(store());
      worker = worker(gpus, state);
      engine =
          new NodeEngine(settings(gpus, state, memoryStage, folder), worker, Clock.systemUTC());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static DriverWorker worker(SimGpuNode gpus, Path state) {
    return new DriverWorker(
        ChildClasses.worker(state)
            .withEnvironment(
                Map.of(
                    "STASIS_LIBCUDA", gpus.libcuda().toString(),
                    "STASIS_LIBNVML", gpus.libnvml().toString(),
                    "STASIS_SIM_GPU", gpus.folder().toString())));
  }

  public static EngineSettings settings(
      SimGpuNode gpus, Path state, Path memoryStage, Path folder) {
    return new EngineSettings(
        state,
        memoryStage,
        folder.resolve("criu"),
        runtime(),
        criu(),
        "4.2.1",
        2,
        false,
        new KeeperSettings(keeper(), Duration.ofSeconds(1), keeperEnvironment(gpus)));
  }

  public static Path runtime() {
    return Path.of(System.getProperty("stasis.runtime", "../runtime/target/stasis-runtime"))
        .toAbsolutePath()
        .normalize();
  }

  static Path keeper() {
    return direct().resolve("stasis-keeper");
  }

  /** The library that a workload preloads for the direct data path. */
  static Path gate() {
    return direct().resolve("libstasis-gate.so");
  }

  private static Path direct() {
    return Path.of(System.getProperty("stasis.direct", "../direct/target"))
        .toAbsolutePath()
        .normalize();
  }

  static Map<String, String> keeperEnvironment(SimGpuNode gpus) {
    return Map.of(
        "STASIS_LIBCUDA", gpus.libcuda().toString(),
        "STASIS_SIM_GPU", gpus.folder().toString());
  }

  public static Path criu() {
    return Path.of(System.getProperty("stasis.criu", "../.tools/bin/criu")).toAbsolutePath();
  }

  public SimGpuNode gpus() {
    return gpus;
  }

  public NodeEngine engine() {
    return engine;
  }

  NodeParts parts() {
    return engine.node();
  }

  DriverWorker worker() {
    return worker;
  }

  /** The uuid of a GPU, as NVML tells it. */
  public String uuid(int index) {
    if (worker.gpus(Duration.ofSeconds(30)) instanceof DriverAnswer.Done<NodeGpus> done) {
      return done.value().gpus().get(index).uuid().text();
    }
    throw new IllegalStateException("the simulated driver does not answer");
  }

  /** A folder on a disk for whatever a test needs. */
  public Path folder() {
    return folder;
  }

  public Path store() {
    return folder.resolve("store");
  }

  public Path state() {
    return state;
  }

  public Path memoryStage() {
    return memoryStage;
  }

  static OperationControl control() {
    return OperationControl.within(Clock.systemUTC(), LIMIT);
  }

  CheckpointOutcome checkpoint(Asked asked) throws InterruptedException {
    return checkpoint(engine.checkpoint(), asked);
  }

  static CheckpointOutcome checkpoint(Checkpoint checkpoint, Asked asked)
      throws InterruptedException {
    return checkpoint.run(asked.request(), control(), StepListener.NONE);
  }

  /** A checkpoint that has to be published. */
  CheckpointOutcome.Published published(Asked asked) throws InterruptedException {
    CheckpointOutcome outcome = checkpoint(asked);
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    return (CheckpointOutcome.Published) outcome;
  }

  RestoreOutcome restore(Path artifact, GpuContainer target) throws InterruptedException {
    return restore(engine.restore(), artifact, target);
  }

  static RestoreOutcome restore(Restore restore, Path artifact, GpuContainer target)
      throws InterruptedException {
    return restore.run(
        restoreRequest(artifact, target, RestoreRequest.Options.defaults()),
        control(),
        StepListener.NONE);
  }

  static RestoreRequest restoreRequest(
      Path artifact, GpuContainer target, RestoreRequest.Options options) {
    return new RestoreRequest(
        UUID.randomUUID().toString(), "test", null, artifact, null, target.id(), options);
  }

  /** Thaws a container; it has to run afterwards. */
  void thaw(GpuContainer container) throws InterruptedException {
    ThawOutcome outcome = engine.thaw().run(container.id(), StepListener.NONE);
    assertThat(outcome).isInstanceOf(ThawOutcome.Ended.class);
    SourceState state = ((ThawOutcome.Ended) outcome).state();
    assertThat(state.kind()).as(state.detail()).isEqualTo(SourceState.Kind.RUNNING);
  }

  /** No journal, no stage, no artifact that was begun. */
  public void assertNothingLeft() {
    assertThat(names(state.resolve("work"))).as("journals").isEmpty();
    assertThat(names(memoryStage)).as("stages in memory").isEmpty();
    assertThat(names(store())).as("store").noneMatch(name -> name.startsWith(".staging"));
  }

  /** The artifacts that are in the store. */
  List<Path> artifacts() {
    return names(store()).stream()
        .filter(name -> !name.startsWith("."))
        .map(store()::resolve)
        .toList();
  }

  private static List<String> names(Path of) {
    if (!Files.isDirectory(of)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(of)) {
      return new ArrayList<>(entries.map(entry -> entry.getFileName().toString()).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
