package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.ArtifactTable;
import dev.stasis.kubectl.report.StoreTable;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists stores, or the artifacts in one of them. */
@Command(
    name = "ls",
    aliases = "list",
    description = "Lists stores, or the checkpoints with an artifact in one store.",
    sortOptions = false)
final class StoreListCommand extends ClusterCommand {

  @Parameters(paramLabel = "STORE", arity = "0..1", description = "lists its artifacts")
  @Nullable String store;

  @Option(
      names = {"-A", "--all-namespaces"},
      description = "lists those of all namespaces")
  boolean all;

  StoreListCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() {
    Instant now = session().clock().instant();
    Scope scope = all ? new Scope.All() : new Scope.Current();
    if (store == null) {
      if (format != null) {
        say(cluster().print(List.of(Kind.STORE.resource()), scope, format.value()).stripTrailing());
      } else {
        String table = new StoreTable().text(cluster().list(List.of(Kind.STORE), scope), now);
        if (table.isEmpty()) {
          complain("there is no GpuCheckpointStore");
        } else {
          say(table);
        }
      }
      return Exit.DONE;
    }
    String name = name(store, Kind.STORE);
    List<Resource> artifacts =
        cluster().list(List.of(Kind.CHECKPOINT), scope).stream()
            .filter(one -> one.text("status.artifact.store").equals(name))
            .toList();
    if (format != null) {
      artifacts.forEach(one -> print(format, one));
    } else if (artifacts.isEmpty()) {
      complain(
          "no artifact of "
              + (all ? "any namespace" : "this namespace")
              + " is in store "
              + name
              + (all ? "" : "; -A searches all namespaces"));
    } else {
      say(new ArtifactTable(all).text(artifacts, now));
    }
    return Exit.DONE;
  }
}
