package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Unmatched;

/**
 * Answers kubectl's completion: candidates for the last word, one per line, then {@code :4} (no
 * file names).
 */
@Command(name = "__complete", hidden = true)
final class CompleteCommand extends ClusterCommand implements Callable<Integer> {

  private static final Map<String, Kind> NAMES =
      Map.of(
          "checkpoint", Kind.POD,
          "migrate", Kind.POD,
          "suspend", Kind.POD,
          "resume", Kind.POD,
          "explain", Kind.POD,
          "restore", Kind.CHECKPOINT,
          "cancel", Kind.CHECKPOINT,
          "logs", Kind.CHECKPOINT,
          "nodes", Kind.NODE);

  /** Options that take the name of a node. */
  private static final Set<String> TO_NODES = Set.of("--to", "--node");

  /** All typed words, including options: none of them is an option of this command. */
  @Parameters(arity = "0..*")
  List<String> words = new ArrayList<>();

  @Unmatched List<String> options = new ArrayList<>();

  CompleteCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() {
    String[] typed = typed();
    String last = typed.length == 0 ? "" : typed[typed.length - 1];
    CommandLine root = spec.root().commandLine();
    CommandLine command = typed.length > 1 ? root.getSubcommands().get(typed[0]) : null;
    Set<String> candidates = new TreeSet<>();
    if (typed.length <= 1) {
      root.getSubcommands().forEach((name, one) -> addVisible(candidates, name, one));
    } else if (command != null && last.startsWith("-")) {
      command.getCommandSpec().options().stream()
          .filter(option -> !option.hidden())
          .map(OptionSpec::longestName)
          .forEach(candidates::add);
    } else if (command != null && typed.length == 2 && !command.getSubcommands().isEmpty()) {
      command.getSubcommands().forEach((name, one) -> addVisible(candidates, name, one));
    } else if (command != null) {
      Kind kind = TO_NODES.contains(typed[typed.length - 2]) ? Kind.KUBE_NODE : NAMES.get(typed[0]);
      if (kind != null) {
        addNames(candidates, kind);
      }
    }
    candidates.stream().filter(it -> it.startsWith(last)).forEach(this::say);
    say(":4");
    return Exit.DONE;
  }

  /** In the typed order, although some were parsed as options. */
  private String[] typed() {
    List<String> all = spec.commandLine().getParseResult().originalArgs();
    int from = all.indexOf("__complete") + 1;
    return Arrays.copyOfRange(all.toArray(String[]::new), Math.min(from, all.size()), all.size());
  }

  private static void addVisible(Set<String> candidates, String name, CommandLine command) {
    if (!command.getCommandSpec().usageMessage().hidden()) {
      candidates.add(name);
    }
  }

  private void addNames(Set<String> candidates, Kind kind) {
    try {
      cluster().list(List.of(kind), new Scope.Current()).stream()
          .map(Resource::name)
          .forEach(candidates::add);
    } catch (ClusterFailure notNow) {
      // An error message would corrupt the line that is being typed.
      candidates.clear();
    }
  }
}
