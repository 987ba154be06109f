package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.Kind;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Creates a GpuRestore. */
@Command(
    name = "restore",
    description = "Restores a checkpoint as a running pod.",
    sortOptions = false)
final class RestoreCommand extends RequestCommand {

  @Parameters(paramLabel = "CHECKPOINT", description = "the GpuCheckpoint")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String checkpoint;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "name of the GpuRestore; default: the checkpoint's name with a suffix")
  @Nullable String name;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  TargetOptions target;

  @Option(
      names = "--cold-start",
      description = "starts the pod from its image if it cannot be restored")
  boolean coldStart;

  @Option(
      names = "--deadline",
      paramLabel = "TIME",
      description = "gives up after this time; default: 30m")
  @Nullable String deadline;

  RestoreCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    String of = name(checkpoint, Kind.CHECKPOINT);
    ObjectNode manifest = named(Kind.RESTORE, name, of);
    ObjectNode spec = (ObjectNode) manifest.path("spec");
    spec.putObject("checkpointRef").put("name", of);
    target.write(spec);
    if (coldStart) {
      spec.put("coldStartPolicy", "ColdStart");
    }
    if (deadline != null) {
      spec.putObject("options").put("deadline", deadline);
    }
    return request(manifest);
  }
}
