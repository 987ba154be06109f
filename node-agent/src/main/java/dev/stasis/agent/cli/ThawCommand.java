package dev.stasis.agent.cli;

import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.Thaw;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Thaws frozen workloads, from their journals alone. */
@Command(
    name = "thaw",
    description = {
      "Thaws a frozen, suspended or partially frozen workload of this node.",
      "Requires only the journal in --state-dir: no agent and no API server."
    })
final class ThawCommand extends NodeCommand {

  @Mixin private final EngineOptions engine = new EngineOptions();

  @ArgGroup(multiplicity = "1")
  private Which which = new Which();

  static final class Which {
    @Parameters(
        paramLabel = "ID",
        description = "The container's id, a unique prefix of it, or the operation's id")
    @Nullable String id;

    @Option(
        names = "--all",
        description = "All frozen workloads of this node, except those that may run elsewhere")
    boolean all;
  }

  ThawCommand(Environment environment) {
    super(environment);
  }

  /** The workloads and the results of their thaws. */
  private record One(String id, ThawOutcome outcome) {}

  @Override
  Report report() throws IOException, InterruptedException {
    // An incomplete thaw is useless, so a signal waits for its end.
    environment().interruption().guard(() -> {});
    List<One> all = new ArrayList<>();
    try (DriverWorker worker = worker();
        ProgressLine progress = new ProgressLine(console(), System::nanoTime)) {
      Thaw thaw = engine.thawing(stateDir(), worker, environment().clock()).thaw();
      if (!which.all) {
        all.add(new One("" + which.id, thaw.run("" + which.id, progress)));
      } else {
        for (Work work : thaw.inHand()) {
          String id = work.containerId();
          all.add(
              new One(
                  id,
                  work.mayRunElsewhere()
                      ? new ThawOutcome.NotFound(elsewhere(id))
                      : thaw.run(id, progress)));
        }
      }
    }
    return tell(all);
  }

  private static String elsewhere(String id) {
    return "a copy of container %s may run elsewhere; if none does: stasis-node thaw %s"
        .formatted(id, CheckpointAnswer.shortId(id));
  }

  private static Report tell(List<One> all) {
    ExitCode code = ExitCode.DONE;
    List<Map<String, Object>> thawed = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    List<String> errors = new ArrayList<>();
    for (One one : all) {
      String id = CheckpointAnswer.shortId(one.id());
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("container", one.id());
      ExitCode here;
      if (one.outcome() instanceof ThawOutcome.Ended ended) {
        here =
            ended.state().kind() == SourceState.Kind.RUNNING
                ? ExitCode.DONE
                : CheckpointAnswer.codeOf(ended.state());
        entry.putAll(Answers.source(ended.state()));
        entry.put("milliseconds", ended.took().toMillis());
        entry.put("steps", Answers.steps(ended.timings()));
        if (here == ExitCode.DONE) {
          lines.add(
              "%s runs after %s: %s".formatted(id, new Span(ended.took()), ended.state().detail()));
        } else {
          errors.add("stasis-node: %s %s".formatted(id, sentence(ended.state())));
        }
      } else {
        String why = ((ThawOutcome.NotFound) one.outcome()).why();
        here = ExitCode.REFUSED;
        entry.put("state", "Refused");
        entry.put("detail", why);
        errors.add("stasis-node: refused: " + why);
      }
      thawed.add(entry);
      code = worse(code, here);
    }
    if (all.isEmpty()) {
      lines.add("no frozen workloads on this node");
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("thawed", thawed);
    return new Report(code, json, lines, errors);
  }

  private static String sentence(SourceState state) {
    return switch (state.kind()) {
      case GONE -> "has ended: " + state.detail() + "; its journal is closed";
      case FROZEN -> "still frozen: " + state.detail() + "; next: see docs/stasis-node.md";
      default ->
          "is in an unknown state: " + state.detail() + "; inspect it before you do anything else";
    };
  }

  /** Failures that need a user come first. */
  private static ExitCode worse(ExitCode first, ExitCode second) {
    List<ExitCode> order =
        List.of(ExitCode.DONE, ExitCode.GONE, ExitCode.REFUSED, ExitCode.FAILED, ExitCode.ACT);
    return order.indexOf(first) >= order.indexOf(second) ? first : second;
  }
}
