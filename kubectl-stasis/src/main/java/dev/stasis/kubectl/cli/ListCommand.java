package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.RequestTable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
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

  @Option(
      names = {"-l", "--selector"},
      paramLabel = "SELECTOR",
      description = "lists those with these labels, such as stasis.dev/schedule=nightly")
  @Nullable String selector;

  ListCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() {
    Scope scope = all ? new Scope.All() : new Scope.Current();
    if (format != null) {
      List<String> what = new ArrayList<>();
      what.add(Kind.REQUESTS.stream().map(Kind::resource).collect(Collectors.joining(",")));
      what.addAll(selection());
      say(cluster().print(what, scope, format.value()).stripTrailing());
      return Exit.DONE;
    }
    String table =
        new RequestTable(all)
            .text(
                cluster().list(Kind.REQUESTS, scope, selection().toArray(String[]::new)),
                session().clock().instant());
    if (table.isEmpty()) {
      complain(
          all ? "nothing found" : "nothing found in this namespace; -A searches all namespaces");
    } else {
      say(table);
    }
    return Exit.DONE;
  }

  private List<String> selection() {
    return selector == null ? List.of() : List.of("--selector=" + selector);
  }
}
