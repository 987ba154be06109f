package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.RequestTable;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Lists requests. */
@Command(
    name = "list",
    aliases = "ls",
    description = "Lists checkpoints, restores and migrations, newest last.",
    sortOptions = false)
final class ListCommand extends ClusterCommand {

  @Option(
      names = {"-A", "--all-namespaces"},
      description = "lists those of all namespaces")
  boolean all;

  ListCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() {
    Scope scope = all ? new Scope.All() : new Scope.Current();
    if (format != null) {
      String kinds = Kind.REQUESTS.stream().map(Kind::resource).collect(Collectors.joining(","));
      say(cluster().print(List.of(kinds), scope, format.value()).stripTrailing());
      return Exit.DONE;
    }
    String table =
        new RequestTable(all)
            .text(cluster().list(Kind.REQUESTS, scope), session().clock().instant());
    if (table.isEmpty()) {
      complain(
          all ? "nothing found" : "nothing found in this namespace; -A searches all namespaces");
    } else {
      say(table);
    }
    return Exit.DONE;
  }
}
