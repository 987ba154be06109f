package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.RequestTable;
import java.util.ArrayList;
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
final class ListCommand extends ListingCommand {

  @Option(
      names = {"-A", "--all-namespaces"},
      description = "lists those of all namespaces")
  boolean all;

  ListCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    Scope scope = all ? new Scope.All() : new Scope.Current();
    if (format != null) {
      requireNoWatch(format);
      List<String> what = new ArrayList<>();
      what.add(Kind.REQUESTS.stream().map(Kind::resource).collect(Collectors.joining(",")));
      what.addAll(selection());
      say(cluster().print(what, scope, format.value()).stripTrailing());
      return Exit.DONE;
    }
    return show(
        Kind.REQUESTS,
        scope,
        request -> true,
        new RequestTable(all),
        all ? "nothing found" : "nothing found in this namespace; -A searches all namespaces");
  }
}
