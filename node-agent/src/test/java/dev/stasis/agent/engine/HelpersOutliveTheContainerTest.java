package dev.stasis.agent.engine;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.ContainerResolver;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.criu.CriuBundle;
import dev.stasis.agent.criu.CriuOptions;
import dev.stasis.agent.criu.CriuRunner;
import dev.stasis.agent.criu.DumpPlan;
import dev.stasis.agent.criu.ThreadGuard;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.WorkerSettings;
import dev.stasis.agent.mover.Move;
import dev.stasis.agent.mover.Mover;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every process in the cgroup of the agent's container is killed, as a runtime does when the
 * container ends. What works on a frozen workload finishes.
 */
class HelpersOutliveTheContainerTest {

  /** A JVM starts in a second; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(120);

  @TempDir private Path folder;

  private Path container = Path.of("/");

  @BeforeEach
  void aContainersCgroup() throws IOException {
    Path memory = Path.of("/sys/fs/cgroup/memory");
    Path hierarchy = Files.isDirectory(memory) ? memory : Path.of("/sys/fs/cgroup");
    assumeTrue(
        Files.isWritable(hierarchy.resolve("cgroup.procs")), "needs a cgroup that can be written");
    container = Files.createDirectory(hierarchy.resolve("stasis-test-" + folder.getFileName()));
  }

  @AfterEach
  void removeIt() throws IOException {
    kill();
    Files.delete(container);
  }

  @ParameterizedTest
  @ValueSource(strings = {"move in", "move out", "guard", "criu", "driver worker"})
  void aHelperFinishesWhenTheAgentsContainerIsKilled(String helper) throws Exception {
    Process agent =
        new ProcessBuilder(
                EngineLab.runtime().toString(),
                "enter",
                "--cgroup",
                container.toString(),
                "--",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Dstasis.runtime=" + EngineLab.runtime(),
                "-cp",
                System.getProperty("java.class.path"),
                HelpersOutliveTheContainerTest.class.getName(),
                helper,
                folder.toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("agent.log").toFile())
            .start();
    await("begun");

    kill();
    agent.onExit().join();
    Files.writeString(folder.resolve("go"), "");

    await("finished");
  }

  private void await(String note) {
    Awaitility.await(note)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> Files.exists(folder.resolve(note)));
  }

  private void kill() {
    Awaitility.await("the end of the container")
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              try (Stream<String> pids = Files.lines(container.resolve("cgroup.procs"))) {
                List<Long> living = pids.map(Long::valueOf).toList();
                living.forEach(
                    pid -> ProcessHandle.of(pid).ifPresent(one -> one.destroyForcibly()));
                return living.isEmpty();
              }
            });
  }

  /** The agent: starts one helper as the engine does, and waits for it. */
  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[1]);
    Path helper = helper(folder, "helper", "");
    Path runtime =
        helper(
            folder,
            "runtime",
            """
            if [ "$1" = enter ]; then
              while [ "$1" != -- ]; do enter="$enter $1"; shift; done; shift 2
              exec '%s' $enter -- "$0" "$@"
            fi
            """
                .formatted(EngineLab.runtime()));
    ProcessId target = new ProcessId(1, 0);
    Path journal = folder.resolve("journal");
    switch (args[0]) {
      case "move in" ->
          new Mover(runtime)
              .run(
                  new Move.In(target, journal, 1, Move.Verify.CRC32C, false, null),
                  LIMIT,
                  child -> {},
                  bytes -> {});
      case "move out" ->
          new Mover(runtime)
              .run(
                  new Move.Out(target, journal, journal, journal, 1, 1, true, Move.Verify.CRC32C),
                  LIMIT,
                  child -> {},
                  bytes -> {});
      case "guard" -> new ThreadGuard(runtime, journal, child -> {}).save(List.of(target));
      case "criu" -> new CriuRunner().dump(dump(folder, helper), LIMIT, bytes -> {});
      default -> {
        WorkerSettings here = WorkerSettings.here(folder);
        WorkerSettings settings =
            new WorkerSettings(
                    here.launcher(), helper, "none", List.of(), folder, here.log(), Map.of())
                .outlivingTheContainer(EngineLab.runtime());
        try (DriverWorker worker = new DriverWorker(settings)) {
          worker.gpus(LIMIT);
        }
      }
    }
  }

  private static DumpPlan dump(Path folder, Path criu) throws IOException, InterruptedException {
    CriuBundle bundle = new CriuBundle(Files.createDirectory(folder.resolve("bundle")));
    Files.createSymbolicLink(bundle.program(), criu);
    int self = (int) ProcessHandle.current().pid();
    Container container =
        ((Resolution.Found) new ContainerResolver(new ProcFs()).byPid(self)).container();
    return new DumpPlan(
        EngineLab.runtime(),
        bundle,
        container,
        0,
        Files.createDirectory(folder.resolve("images")),
        Files.createDirectory(folder.resolve("work")),
        CriuOptions.usual());
  }

  /** Begins, waits for its word, and finishes. */
  private static Path helper(Path folder, String name, String first) throws IOException {
    Path script = folder.resolve(name);
    Files.writeString(
        script,
        "#!/bin/sh\n"
            + first
            + "trap '' PIPE; cd %s; : >begun; until [ -e go ]; do sleep 0.05; done; : >finished\n"
                .formatted(folder));
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    return script;
  }
}
