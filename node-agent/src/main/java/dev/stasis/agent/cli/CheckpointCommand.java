package dev.stasis.agent.cli;

import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.agent.engine.OperationControl;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.artifact.ArtifactStore;
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

/** Checkpoints a container's workload. */
@Command(
    name = "checkpoint",
    description = "Checkpoints a container's GPU workload, and resumes, suspends or holds it.")
final class CheckpointCommand extends NodeCommand {

  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

  @Spec private @Nullable CommandSpec spec;
  @Mixin private final EngineOptions engine = new EngineOptions();
  @Mixin private final OperationOptions operation = new OperationOptions();

  @Parameters(
      paramLabel = "CONTAINER",
      description = "The container's id, a unique prefix of it, or a pid in it")
  private String container = "";

  @Option(
      names = "--store",
      paramLabel = "DIR",
      description = "The folder for the artifact; created if it does not exist")
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
          "What happens to the workload: it resumes; it stays in host memory without its GPU"
              + " until a thaw; it stays frozen until an end or a thaw. Default: resume")
  private After after = After.RESUME;

  @Option(
      names = "--stage",
      paramLabel = "auto|memory|disk",
      defaultValue = "auto",
      description = "Where device memory is copied during the freeze. Default: auto")
  private CheckpointRequest.StagePlace stage = CheckpointRequest.StagePlace.AUTO;

  @Option(
      names = "--data-path",
      paramLabel = "mover|low_memory|criu",
      defaultValue = "mover",
      description =
          "Which program copies the device memory. low_memory: the mover, which frees it in the"
              + " process after the copy. Default: mover")
  private CheckpointRequest.DataPathChoice dataPath = CheckpointRequest.DataPathChoice.MOVER;

  @Option(
      names = "--lock-timeout",
      paramLabel = "TIME",
      defaultValue = "30s",
      description = "How long running kernels may take to finish. Default: 30s")
  private Span lockTimeout = new Span(Duration.ofSeconds(30));

  @Option(
      names = "--tcp",
      paramLabel = "keep|close",
      defaultValue = "close",
      description =
          "keep: the target has the same address, so sockets bound to it are allowed. Default:"
              + " close")
  private CheckpointRequest.Tcp tcp = CheckpointRequest.Tcp.CLOSE;

  @Option(
      names = "--thp",
      description = "Enable huge pages for the whole machine while the driver copies out")
  private boolean thp;

  @Option(
      names = "--nothing-shared",
      description = "Declares that connected processes share no GPU memory")
  private boolean nothingShared;

  @Option(
      names = "--pack",
      paramLabel = "MOUNT",
      description = "A mount in the container to pack into the artifact; may be repeated")
  private List<String> packed = List.of();

  CheckpointCommand(Environment environment) {
    super(environment);
  }

  @Override
  Report report() throws IOException, InterruptedException {
    requireSense();
    Optional<FailedRequirement> missing = engine.missing();
    if (missing.isPresent()) {
      return Answers.refused(List.of(missing.get()));
    }
    if (store != null && !Files.exists(store)) {
      Files.createDirectories(
          store,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      console().err().println("stasis-node: created the store " + store);
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
          "--store: expected a folder for --after "
              + after.name().toLowerCase(Locale.ROOT)
              + ", got none");
    }
    if (operation.threads() < 1) {
      throw wrong("--threads: expected 1 or more, got " + operation.threads());
    }
    for (String mount : packed) {
      if (!mount.startsWith("/")) {
        throw wrong("--pack: expected a path in the container like /cache, got " + mount);
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
            nothingShared,
            operation.threads(),
            false,
            false),
        null,
        Set.copyOf(new ArrayList<>(packed)));
  }
}
