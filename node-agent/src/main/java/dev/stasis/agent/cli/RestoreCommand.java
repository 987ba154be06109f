package dev.stasis.agent.cli;

import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.agent.engine.OperationControl;
import dev.stasis.agent.engine.ProvenProcess;
import dev.stasis.agent.engine.RestoreOutcome;
import dev.stasis.agent.engine.RestoreRequest;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.preflight.FailedRequirement;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Restores a checkpointed workload into a waiting container. */
@Command(
    name = "restore",
    description =
        "Restores a workload into a container whose first process is stasis-runtime init.")
final class RestoreCommand extends NodeCommand {

  @Mixin private final EngineOptions engine = new EngineOptions();
  @Mixin private final OperationOptions operation = new OperationOptions();

  @Parameters(paramLabel = "ARTIFACT", description = "The artifact's folder")
  private Path artifact = Path.of(".");

  @Option(
      names = "--into",
      required = true,
      paramLabel = "CONTAINER",
      description = "The waiting container: its id, a unique prefix of it, or a pid in it")
  private String target = "";

  @Option(
      names = "--digest",
      paramLabel = "SHA256",
      description = "Refuse an artifact with a different digest")
  private @Nullable String digest;

  @Option(
      names = "--tcp",
      paramLabel = "keep|close",
      defaultValue = "close",
      description = "Established TCP connections of the saved state. Default: close")
  private CheckpointRequest.Tcp tcp = CheckpointRequest.Tcp.CLOSE;

  @Option(
      names = "--wait",
      paramLabel = "TIME",
      defaultValue = "5m",
      description =
          "How long to wait for free GPU memory, and for host memory that other operations have"
              + " reserved. Default: 5m")
  private Span wait = new Span(Duration.ofMinutes(5));

  RestoreCommand(Environment environment) {
    super(environment);
  }

  @Override
  Report report() throws IOException, InterruptedException {
    Optional<FailedRequirement> missing = engine.missing();
    if (missing.isPresent()) {
      return Answers.refused(List.of(missing.get()));
    }
    OperationControl control = operation.control(environment());
    try (DriverWorker worker = worker();
        ProgressLine progress = new ProgressLine(console(), System::nanoTime)) {
      RestoreOutcome outcome =
          engine
              .engine(stateDir(), worker, environment().clock())
              .restore()
              .run(request(), control, progress);
      progress.close();
      return tell(outcome);
    }
  }

  private RestoreRequest request() {
    return new RestoreRequest(
        Work.BY_HAND + UUID.randomUUID(),
        operation.owner(),
        null,
        artifact.toAbsolutePath().normalize(),
        digest,
        target,
        new RestoreRequest.Options(tcp, wait.length(), Math.max(1, operation.threads())));
  }

  private Report tell(RestoreOutcome outcome) {
    Map<String, Object> json = new LinkedHashMap<>();
    if (outcome instanceof RestoreOutcome.Proven proven) {
      json.put("outcome", "Proven");
      json.put("container", target);
      json.put("pid", proven.init());
      json.put("gpuBytes", proven.gpuBytes());
      json.put("proof", proven.proof().stream().map(ProvenProcess::toString).toList());
      json.put("steps", Answers.steps(proven.timings()));
      List<String> lines = new ArrayList<>();
      lines.add(
          "restored into container %s: process %d runs with %s of GPU memory"
              .formatted(
                  CheckpointAnswer.shortId(target), proven.init(), new Bytes(proven.gpuBytes())));
      proven.proof().forEach(seen -> lines.add("  " + seen));
      lines.add("");
      lines.addAll(Answers.stepTable(proven.timings()));
      return new Report(ExitCode.DONE, json, lines, List.of());
    }
    if (outcome instanceof RestoreOutcome.Refused refused) {
      return Answers.refused(refused.unmet());
    }
    RestoreOutcome.Failed failed = (RestoreOutcome.Failed) outcome;
    json.put("outcome", "Failed");
    json.put("container", target);
    json.put("step", failed.step());
    json.put("reason", failed.reason().value());
    json.put("message", failed.message());
    json.put("steps", Answers.steps(failed.timings()));
    return new Report(
        ExitCode.FAILED,
        json,
        List.of(),
        List.of(
            "stasis-node: restore failed in step %s (%s): %s"
                .formatted(failed.step(), failed.reason().value(), failed.message()),
            "  the artifact is intact; delete the container and retry in a new one"));
  }
}
