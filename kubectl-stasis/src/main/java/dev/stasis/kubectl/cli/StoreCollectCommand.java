package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import java.time.temporal.ChronoUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Has the agents free the chunks of a remote store that no artifact needs. */
@Command(
    name = "gc",
    description =
        "Frees data that no artifact of a remote store needs, which otherwise happens once a day.",
    footer = {"", "Data younger than 24 hours is kept, because its upload may still be running."},
    sortOptions = false)
final class StoreCollectCommand extends ClusterCommand {

  @Parameters(paramLabel = "STORE", description = "the remote store")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String store;

  StoreCollectCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() {
    String name = name(store, Kind.STORE);
    Resource found =
        cluster()
            .find(Kind.STORE, new Scope.Current(), name)
            .orElseThrow(
                () ->
                    new ClusterFailure(
                        ClusterFailure.Why.NOT_FOUND,
                        "there is no GpuCheckpointStore " + name,
                        "list the stores: kubectl stasis store ls"));
    boolean remote =
        !found.text("spec.location.s3.bucket").isEmpty()
            || !found.text("spec.location.persistentVolumeClaim.claimName").isEmpty()
            || found.text("spec.location.sharedPath.layout").equals("Chunks");
    if (!remote) {
      complain(
          "store " + name + " does not store chunks: its artifacts are deleted with their objects");
      return Exit.FAILED;
    }
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch
        .putObject("spec")
        .putObject("options")
        .put(
            "collectAfter", session().clock().instant().truncatedTo(ChronoUnit.SECONDS).toString());
    Resource patched = cluster().patch(Kind.STORE, new Scope.Current(), name, patch);
    if (format == null) {
      say(patched.title() + ": the agents free data within five minutes and log the result");
    } else {
      print(patched);
    }
    return Exit.DONE;
  }
}
