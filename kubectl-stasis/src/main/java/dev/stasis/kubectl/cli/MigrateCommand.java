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
      description = "of the GpuMigration; default: the pod's with a suffix")
  @Nullable String name;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  TargetOptions target;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  FreezeOptions options;

  @Option(
      names = "--source-first",
      description = "removes the pod before the new one starts, where both cannot exist together")
  boolean sourceFirst;

  MigrateCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    String moved = name(pod, Kind.POD);
    ObjectNode manifest = named(Kind.MIGRATION, name, moved);
    ObjectNode spec = (ObjectNode) manifest.path("spec");
    spec.put("podName", moved);
    target.write(spec);
    options.write(spec);
    if (sourceFirst) {
      spec.put("order", "SourceFirst");
    }
    return request(manifest);
  }
}
