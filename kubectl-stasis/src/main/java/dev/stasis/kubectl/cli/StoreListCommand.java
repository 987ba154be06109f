package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.ArtifactTable;
import dev.stasis.kubectl.report.StoreTable;
import java.util.ArrayList;
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
final class StoreListCommand extends ListingCommand {

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
  public Integer call() throws InterruptedException {
    Scope scope = all ? new Scope.All() : new Scope.Current();
    if (format != null) {
      requireNoWatch(format);
      print(format, scope);
      return Exit.DONE;
    }
    if (store == null) {
      return show(
          List.of(Kind.STORE),
          scope,
          any -> true,
          new StoreTable(),
          "there is no GpuCheckpointStore");
    }
    String name = name(store, Kind.STORE);
    return show(
        List.of(Kind.CHECKPOINT),
        scope,
        checkpoint -> isIn(name, checkpoint),
        new ArtifactTable(all),
        "no artifact of "
            + (all ? "any namespace" : "this namespace")
            + " is in store "
            + name
            + (all ? "" : "; -A searches all namespaces"));
  }

  private void print(Format as, Scope scope) {
    if (store == null) {
      List<String> what = new ArrayList<>(List.of(Kind.STORE.resource()));
      what.addAll(selection());
      say(cluster().print(what, scope, as.value()).stripTrailing());
      return;
    }
    String name = name(store, Kind.STORE);
    List<Resource> checkpoints =
        cluster().list(List.of(Kind.CHECKPOINT), scope, selection().toArray(String[]::new));
    try (ObjectDocument document = document(true)) {
      checkpoints.stream().filter(one -> isIn(name, one)).forEach(document::add);
    }
  }

  private static boolean isIn(String store, Resource checkpoint) {
    return checkpoint.text("status.artifact.store").equals(store);
  }
}
