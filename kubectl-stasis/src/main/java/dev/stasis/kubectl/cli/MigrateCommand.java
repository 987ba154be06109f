package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.Kind;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Creates a GpuMigration. */
@Command(
    name = "migrate",
    description = "Moves a running pod to another node.",
    sortOptions = false)
final class MigrateCommand extends RequestCommand {

  @Parameters(paramLabel = "POD", description = "the pod")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String pod;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "name of the GpuMigration; default: the pod's name with a suffix")
  @Nullable String name;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  TargetOptions target;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  FreezeOptions options;

  enum Strategy {
    LIVE("Live"),
    RECREATE("Recreate");

    final String word;

    Strategy(String word) {
      this.word = word;
    }
  }

  @Option(
      names = "--strategy",
      paramLabel = "live|recreate",
      description = {
        "live starts the new pod before the old one is removed; recreate removes the old one",
        "first, for pods that cannot exist twice; default: live"
      })
  @Nullable Strategy strategy;

  MigrateCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    String moved = name(pod, Kind.POD);
    ObjectNode manifest = named(Kind.MIGRATION, name, moved);
    ObjectNode spec = (ObjectNode) manifest.path("spec");
    spec.putObject("podRef").put("name", moved);
    target.write(spec);
    options.write(spec);
    if (strategy != null) {
      spec.put("strategy", strategy.word);
    }
    return request(manifest);
  }
}
