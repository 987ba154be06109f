package dev.stasis.agent.cli;

import dev.stasis.agent.criu.CriuCheck;
import dev.stasis.agent.criu.CriuLocator;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.engine.EngineSettings;
import dev.stasis.agent.engine.NodeEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Where the engine's programs and folders are. */
final class EngineOptions {

  /** Where a package would put our own criu. */
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
          "On a tmpfs: where device memory is put at first; or STASIS_MEMORY_STAGE. Default:"
              + " /dev/shm/stasis-stage")
  private Path memoryStage = Path.of("/dev/shm/stasis-stage");

  @Option(
      names = "--criu-dir",
      paramLabel = "DIR",
      defaultValue = "${env:STASIS_CRIU_DIR:-/var/lib/stasis/criu}",
      description =
          "Where criu is made ready for containers, on a file system that runs programs; or"
              + " STASIS_CRIU_DIR. Default: /var/lib/stasis/criu")
  private Path criuDir = Path.of("/var/lib/stasis/criu");

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

  /** Why the engine cannot work here, or nothing. Nothing is changed by asking. */
  Optional<Missing> missing() throws IOException, InterruptedException {
    if (!Files.isExecutable(runtime())) {
      return Optional.of(
          new Missing(
              "stasis-runtime", "a program at " + runtime(), "none; build it or give --runtime"));
    }
    Optional<Path> found = criu();
    if (found.isEmpty()) {
      return Optional.of(
          new Missing("criu", "a program", "none; run bin/setup, or give --criu or STASIS_CRIU"));
    }
    CriuCheck.Result result = new CriuCheck().check(found.get());
    if (result instanceof CriuCheck.Result.Good good) {
      criuVersion = good.version().toString();
      return Optional.empty();
    }
    return Optional.of(
        new Missing(
            "criu", "one that works on this kernel", ((CriuCheck.Result.Unusable) result).why()));
  }

  /** Something that the engine needs. */
  record Missing(String property, String wanted, String found) {}

  /** An engine for checkpoints and restores; {@link #missing} was asked before. */
  NodeEngine engine(Path stateDir, DriverWorker worker, Clock clock) throws IOException {
    return engine(stateDir, worker, clock, criu().orElseThrow());
  }

  /** An engine that only has to thaw or end: it needs no criu. */
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
            false),
        worker,
        clock);
  }
}
