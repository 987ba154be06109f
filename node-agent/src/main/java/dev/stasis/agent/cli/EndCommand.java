package dev.stasis.agent.cli;

import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Ends a workload that is frozen and has an artifact. */
@Command(
    name = "end",
    description =
        "Ends a workload that is held after checkpoint --after evict. Only its artifact remains.")
final class EndCommand extends NodeCommand {

  @Mixin private final EngineOptions engine = new EngineOptions();

  @Parameters(
      paramLabel = "ID",
      description = "The container's id, a unique prefix of it, or the operation's id")
  private String id = "";

  @Option(names = "--yes", description = "Do not ask")
  private boolean yes;

  EndCommand(Environment environment) {
    super(environment);
  }

  @Override
  Report report() throws IOException, InterruptedException {
    try (DriverWorker worker = worker()) {
      NodeEngine node = engine.thawing(stateDir(), worker, environment().clock());
      List<Work> matching =
          node.thaw().inHand().stream()
              .filter(work -> work.containerId().startsWith(id) || work.id().equals(id))
              .toList();
      if (matching.size() != 1) {
        return Answers.refused(
            "workload %s: expected exactly one frozen, got %d; see stasis-node frozen"
                .formatted(id, matching.size()));
      }
      String container = matching.get(0).containerId();
      if (!yes) {
        if (!console().inputOnTerminal()) {
          return Answers.refused(
              "end: expected --yes or a terminal for the confirmation, got neither");
        }
        if (!console()
            .confirmed(
                "End container " + container + "? After that only its artifact can be restored.")) {
          return Answers.refused("not confirmed");
        }
      }
      environment().interruption().guard(() -> {});
      return tell(container, node.evicted().end(container));
    }
  }

  private static Report tell(String container, ThawOutcome outcome) {
    if (outcome instanceof ThawOutcome.NotFound refused) {
      return Answers.refused(refused.why());
    }
    SourceState state = ((ThawOutcome.Ended) outcome).state();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("outcome", state.kind() == SourceState.Kind.GONE ? "Ended" : "Failed");
    json.put("container", container);
    json.put("detail", state.detail());
    return state.kind() == SourceState.Kind.GONE
        ? new Report(
            ExitCode.DONE,
            json,
            List.of(CheckpointAnswer.shortId(container) + " ended: " + state.detail()),
            List.of())
        : new Report(
            ExitCode.ACT, json, List.of(), List.of("stasis-node: not ended: " + state.detail()));
  }
}
