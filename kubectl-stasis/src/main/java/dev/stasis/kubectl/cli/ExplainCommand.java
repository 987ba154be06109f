package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.Explanation;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Requests an explanation with a GpuCheckpoint that is deleted afterwards. */
@Command(
    name = "explain",
    description =
        "Shows whether a pod could be frozen, what prevents it, and what a freeze would involve.",
    footer = {"", "Nothing is frozen. Exit code 1 if it cannot be frozen."},
    sortOptions = false)
final class ExplainCommand extends ClusterCommand {

  /** The agent answers within a second; a busy one answers after its current step. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @Parameters(paramLabel = "POD", description = "the pod")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String pod;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  FreezeOptions options;

  @Option(names = "--keep", description = "keeps the GpuCheckpoint that contains the answer")
  boolean keep;

  ExplainCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    String target = name(pod, Kind.POD);
    ObjectNode manifest = manifest(Kind.CHECKPOINT);
    String prefix = target.substring(0, Math.min(target.length(), 48)).replaceAll("[.-]+$", "");
    ((ObjectNode) manifest.path("metadata")).put("generateName", prefix + "-explain-");
    ObjectNode spec = (ObjectNode) manifest.path("spec");
    spec.putObject("podRef").put("name", target);
    spec.putObject("options").put("dryRun", true);
    options.write(spec);
    Resource made = cluster().create(new Scope.Current(), manifest, false);
    try {
      return answer(made);
    } finally {
      if (!keep) {
        cluster().delete(Kind.CHECKPOINT, scope(made), made.name());
      }
    }
  }

  private int answer(Resource made) throws InterruptedException {
    Optional<Resource> end = new Waiting(session(), cluster()).untilOver(made, PATIENCE);
    if (end.isEmpty()) {
      Resource now = cluster().find(Kind.CHECKPOINT, scope(made), made.name()).orElse(made);
      String why = now.text("status.message");
      complain(
          "no answer within "
              + PATIENCE.toMinutes()
              + "m: "
              + (why.isEmpty() ? "the operator has not processed it" : why));
      complain("  check the cluster: kubectl stasis doctor");
      return Exit.NOT_YET;
    }
    Explanation explanation = new Explanation(end.get());
    if (format == null) {
      say(explanation.text());
    } else {
      print(end.get());
    }
    return explanation.isFeasible() ? Exit.DONE : Exit.FAILED;
  }
}
