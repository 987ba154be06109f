package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.Kind;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Creates a GpuCheckpoint for an artifact that is already in a store. */
@Command(
    name = "import",
    description = {
      "Imports an artifact that is already in a store: a retained one, or one that was copied",
      "there from another cluster. Every byte of it is verified first."
    },
    sortOptions = false)
final class ImportCommand extends RequestCommand {

  private static final Pattern LOCATION =
      Pattern.compile("([a-z0-9]([-a-z0-9]*[a-z0-9])?)/[A-Za-z0-9][A-Za-z0-9._-]{0,127}");

  @Parameters(
      paramLabel = "NAMESPACE/FOLDER",
      description = "folder of the artifact, relative to the root of the store")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String location;

  @Option(
      names = "--pod",
      paramLabel = "POD",
      required = true,
      description = "name of the checkpointed pod")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String pod;

  @Option(
      names = "--node",
      paramLabel = "NODE",
      description = "node that has the artifact on its disk; not allowed for a shared store")
  @Nullable String node;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "name of the GpuCheckpoint; default: the pod's name with a suffix")
  @Nullable String name;

  @Option(
      names = "--store",
      paramLabel = "NAME",
      description = "GpuCheckpointStore; default: the default store")
  @Nullable String store;

  @Option(
      names = "--sha256",
      paramLabel = "DIGEST",
      description = "refuses an artifact with a different digest")
  @Nullable String sha256;

  @Option(
      names = {"-c", "--container"},
      paramLabel = "NAME",
      description = "refuses the artifact of a different container")
  @Nullable String container;

  @Option(names = "--retain", description = "keeps the artifact when the GpuCheckpoint is deleted")
  boolean retain;

  ImportCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    var parts = LOCATION.matcher(location);
    if (!parts.matches()) {
      throw new ParameterException(
          spec.commandLine(),
          "expected NAMESPACE/FOLDER, relative to the root of the store, got " + location);
    }
    String of = name(pod, Kind.POD);
    ObjectNode manifest = named(Kind.CHECKPOINT, name, of);
    ((ObjectNode) manifest.path("metadata")).put("namespace", parts.group(1));
    ObjectNode wanted = (ObjectNode) manifest.path("spec");
    ObjectNode from = wanted.putObject("importFrom");
    from.put("podName", of);
    from.put("location", location);
    if (node != null) {
      from.put("nodeName", node);
    }
    if (sha256 != null) {
      from.put("sha256", sha256);
    }
    if (store != null) {
      wanted.putObject("storageRef").put("name", store);
    }
    if (container != null) {
      wanted.withObjectProperty("options").put("containerName", container);
    }
    if (retain) {
      wanted.withObjectProperty("options").put("deletionPolicy", "Retain");
    }
    return request(manifest);
  }
}
