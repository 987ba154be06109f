package dev.stasis.agent.cli;

import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.agent.engine.OperationControl;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.preflight.Unmet;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.Durability;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Freezes a container's workload and saves it. */
@Command(
    name = "checkpoint",
    description = "Freezes a container's GPU workload, saves it, and lets it go on or keeps it.")
final class CheckpointCommand extends NodeCommand {

  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

  @Spec private @Nullable CommandSpec spec;
  @Mixin private final EngineOptions engine = new EngineOptions();
  @Mixin private final OperationOptions operation = new OperationOptions();

  @Parameters(
      paramLabel = "CONTAINER",
      description = "The container's id, a unique beginning of it, or a pid in it")
  private String container = "";

  @Option(
      names = "--store",
      paramLabel = "DIR",
      description = "The folder that takes the artifact; made when it is not there")
  private @Nullable Path store;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "The artifact's name in the store. Default: container and time")
  private @Nullable String name;

  @Option(
      names = "--after",
      paramLabel = "resume|suspend|evict",
      defaultValue = "resume",
      description =
          "What becomes of the workload: it goes on; it stays in host memory with its GPU free"
              + " until a thaw; it is saved and stands still until end or thaw. Default: resume")
  private After after = After.RESUME;

  @Option(
      names = "--stage",
      paramLabel = "auto|memory|disk",
      defaultValue = "auto",
      description = "Where device memory is put while the workload stands still. Default: auto")
  private CheckpointRequest.StagePlace stage = CheckpointRequest.StagePlace.AUTO;

  @Option(
      names = "--data-path",
      paramLabel = "mover|criu",
      defaultValue = "mover",
      description = "Who moves the device memory. Default: mover")
  private CheckpointRequest.DataPathChoice dataPath = CheckpointRequest.DataPathChoice.MOVER;

  @Option(
      names = "--lock-timeout",
      paramLabel = "TIME",
      defaultValue = "30s",
      description = "How long running kernels may take to end. Default: 30s")
  private Span lockTimeout = new Span(Duration.ofSeconds(30));

  @Option(
      names = "--tcp",
      paramLabel = "keep|close",
      defaultValue = "close",
      description =
          "keep: the target has the same address, so sockets may be bound to it. Default: close")
  private CheckpointRequest.Tcp tcp = CheckpointRequest.Tcp.CLOSE;

  @Option(
      names = "--thp",
      description =
          "Switch huge pages on for the whole machine while the driver copies out; put back after")
  private boolean thp;

  @Option(
      names = "--allow-peer-to-peer",
      description = "Take NCCL with peer-to-peer although a driver below 610 loses its memory")
  private boolean allowPeerToPeer;

  @Option(
      names = "--pack",
      paramLabel = "MOUNT",
      description = "A mount in the container whose files go along; may be repeated")
  private List<String> packed = List.of();

  CheckpointCommand(Environment environment) {
    super(environment);
  }

  @Override
  Report report() throws IOException, InterruptedException {
    requireSense();
    Optional<EngineOptions.Missing> missing = engine.missing();
    if (missing.isPresent()) {
      return Answers.refused(
          List.of(
              new Unmet(missing.get().property(), missing.get().wanted(), missing.get().found())));
    }
    if (store != null && !Files.exists(store)) {
      Files.createDirectories(
          store,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      console().err().println("stasis-node: made the store " + store);
    }
    OperationControl control = operation.control(environment());
    try (DriverWorker worker = worker();
        ProgressLine progress = new ProgressLine(console(), System::nanoTime)) {
      CheckpointOutcome outcome =
          engine
              .engine(stateDir(), worker, environment().clock())
              .checkpoint()
              .run(request(), control, progress);
      progress.close();
      return new CheckpointAnswer(container).report(outcome);
    }
  }

  private void requireSense() {
    if (store == null && after != After.SUSPEND) {
      throw wrong(
          "--store: wanted a folder for --after "
              + after.name().toLowerCase(Locale.ROOT)
              + ", found none");
    }
    if (operation.threads() < 1) {
      throw wrong("--threads: wanted 1 or more, found " + operation.threads());
    }
    for (String mount : packed) {
      if (!mount.startsWith("/")) {
        throw wrong("--pack: wanted a path in the container like /cache, found " + mount);
      }
    }
    if (store != null && name != null) {
      try {
        new ArtifactStore(store, environment().clock()).path(name);
      } catch (IllegalArgumentException e) {
        throw wrong("--name: " + e.getMessage());
      }
    }
  }

  private ParameterException wrong(String why) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), why);
  }

  private CheckpointRequest request() {
    String artifact =
        name != null
            ? name
            : container.substring(0, Math.min(12, container.length()))
                + "-"
                + NAME.format(environment().clock().instant());
    return new CheckpointRequest(
        Work.BY_HAND + UUID.randomUUID(),
        artifact,
        operation.owner(),
        null,
        container,
        store == null ? null : store.toAbsolutePath().normalize(),
        after,
        new CheckpointRequest.Options(
            lockTimeout.length(),
            stage,
            dataPath,
            tcp,
            thp,
            allowPeerToPeer,
            operation.threads(),
            Durability.BEFORE_IT_IS_NAMED,
            false),
        null,
        Set.copyOf(new ArrayList<>(packed)));
  }
}
