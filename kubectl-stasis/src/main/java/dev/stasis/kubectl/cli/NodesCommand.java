package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.NodeReport;
import dev.stasis.kubectl.report.NodeTable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Lists nodes with GPUs, or shows one of them. */
@Command(
    name = "nodes",
    aliases = "node",
    description = "Lists nodes with GPUs, or shows the GPUs, links and fingerprint of one node.",
    sortOptions = false)
final class NodesCommand extends ListingCommand {

  @Parameters(paramLabel = "NODE", arity = "0..1", description = "shows the details of this node")
  @Nullable String node;

  NodesCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    Instant now = session().clock().instant();
    Scope scope = new Scope.Current();
    if (node != null && (watch || selector != null)) {
      throw new ParameterException(
          spec.commandLine(), "expected a NODE, or -l and -w for the list of nodes, got both");
    }
    if (format != null) {
      requireNoWatch(format);
      List<String> what = new ArrayList<>(List.of(Kind.NODE.resource()));
      if (node != null) {
        what.add(node);
      }
      what.addAll(selection());
      say(cluster().print(what, scope, format.value()).stripTrailing());
    } else if (node != null) {
      String name = name(node, Kind.NODE);
      Resource found =
          cluster()
              .find(Kind.NODE, scope, name)
              .orElseThrow(
                  () ->
                      new ClusterFailure(
                          ClusterFailure.Why.NOT_FOUND,
                          "there is no GpuNode " + name,
                          "list the nodes: kubectl stasis nodes; find out why one is missing:"
                              + " kubectl stasis doctor"));
      say(new NodeReport().text(found, now));
    } else {
      return show(
          List.of(Kind.NODE),
          scope,
          any -> true,
          new NodeTable(),
          "no node with an agent; for the reason: kubectl stasis doctor");
    }
    return Exit.DONE;
  }
}
