package dev.stasis.agent.cli;

import dev.stasis.agent.criu.CriuCheck;
import dev.stasis.agent.criu.CriuLocator;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.direct.KeeperSettings;
import dev.stasis.agent.engine.EngineSettings;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.agent.preflight.FailedRequirement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Paths of the engine's programs and folders. */
final class EngineOptions {

  /** The path where a package would install our criu. */
  private static final Path OWN_CRIU = Path.of("/usr/libexec/stasis/criu");

  @Option(
      names = "--criu",
      paramLabel = "FILE",
      defaultValue = "${env:STASIS_CRIU:-}",
      description = "A static criu; or STASIS_CRIU. Default: the first in PATH")
  private String criu = "";

  @Option(
      names = "--runtime",
      paramLabel = "FILE",
      defaultValue = "${env:STASIS_RUNTIME:-/usr/libexec/stasis/stasis-runtime}",
      description = "The program stasis-runtime; or STASIS_RUNTIME")
  private Path runtime = Path.of("/usr/libexec/stasis/stasis-runtime");

  @Option(
      names = "--memory-stage",
      paramLabel = "DIR",
      defaultValue = "${env:STASIS_MEMORY_STAGE:-/dev/shm/stasis-stage}",
      description =
          "On a tmpfs: first destination of device memory; or STASIS_MEMORY_STAGE. Default:"
              + " /dev/shm/stasis-stage")
  private Path memoryStage = Path.of("/dev/shm/stasis-stage");

  @Option(
      names = "--criu-dir",
      paramLabel = "DIR",
      defaultValue = "${env:STASIS_CRIU_DIR:-/var/lib/stasis/criu}",
      description =
          "Where criu is installed for containers, on a file system that allows programs; or"
              + " STASIS_CRIU_DIR. Default: /var/lib/stasis/criu")
  private Path criuDir = Path.of("/var/lib/stasis/criu");

  @Option(
      names = "--keeper",
      paramLabel = "FILE",
      defaultValue = "${env:STASIS_KEEPER:-/usr/libexec/stasis/stasis-keeper}",
      description = "The program stasis-keeper, for the direct data path; or STASIS_KEEPER")
  private Path keeper = KeeperSettings.PROGRAM;

  private String criuVersion = "unknown";

  Path runtime() {
    return runtime.toAbsolutePath().normalize();
  }

  Path memoryStage() {
    return memoryStage.toAbsolutePath().normalize();
  }

  Path criuDir() {
    return criuDir.toAbsolutePath().normalize();
  }

  Optional<Path> criu() {
    Optional<Path> named = criu.isEmpty() ? Optional.empty() : Optional.of(Path.of(criu));
    return new CriuLocator(named, OWN_CRIU, System.getenv()).find();
  }

  /** Returns why the engine cannot work here, or empty. The check changes nothing. */
  Optional<FailedRequirement> missing() throws IOException, InterruptedException {
    if (!Files.isExecutable(runtime())) {
      return Optional.of(
          new FailedRequirement(
              "stasis-runtime", "a program at " + runtime(), "none; build it, or set --runtime"));
    }
    Optional<Path> found = criu();
    if (found.isEmpty()) {
      return Optional.of(
          new FailedRequirement(
              "criu", "a program", "none; run bin/setup, or set --criu or STASIS_CRIU"));
    }
    CriuCheck.Result result = new CriuCheck().check(found.get());
    if (result instanceof CriuCheck.Result.Good good) {
      criuVersion = good.version().toString();
      return Optional.empty();
    }
    return Optional.of(
        new FailedRequirement(
            "criu", "one that works on this kernel", ((CriuCheck.Result.Unusable) result).why()));
  }

  /** Creates an engine for checkpoints and restores; {@link #missing} was called before. */
  NodeEngine engine(Path stateDir, DriverWorker worker, Clock clock) throws IOException {
    return engine(stateDir, worker, clock, criu().orElseThrow());
  }

  /** Creates an engine that only thaws or ends workloads, which needs no criu. */
  NodeEngine thawing(Path stateDir, DriverWorker worker, Clock clock) throws IOException {
    return engine(stateDir, worker, clock, criu().orElse(Path.of("/nonexistent")));
  }

  private NodeEngine engine(Path stateDir, DriverWorker worker, Clock clock, Path program)
      throws IOException {
    return new NodeEngine(
        new EngineSettings(
            stateDir,
            memoryStage(),
            criuDir(),
            runtime(),
            program,
            criuVersion,
            Math.max(1, Runtime.getRuntime().availableProcessors()),
            false,
            KeeperSettings.of(keeper.toAbsolutePath().normalize())),
        worker,
        clock);
  }
}
