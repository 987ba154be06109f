package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.cluster.Watching;
import dev.stasis.kubectl.report.Columns;
import dev.stasis.kubectl.screen.Table;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** A command that shows a list, with the options that {@code kubectl get} has for it. */
abstract class ListingCommand extends ClusterCommand {

  /** A watch ends with the program; this only bounds a single wait for a change. */
  private static final Duration EACH = Duration.ofMinutes(1);

  @Option(
      names = {"-l", "--selector"},
      paramLabel = "SELECTOR",
      description = "lists those with these labels, such as stasis.dev/schedule=nightly")
  @Nullable String selector;

  @Option(
      names = {"-w", "--watch"},
      description = "then prints each of them again when it changes")
  boolean watch;

  ListingCommand(Session session) {
    super(session);
  }

  /** Returns the selection as options for kubectl. */
  final List<String> selection() {
    return selector == null ? List.of() : List.of("--selector=" + selector);
  }

  /**
   * Shows objects, and their changes if requested.
   *
   * @param which selects the rows
   * @param nothing what is printed if there are none
   */
  final int show(
      List<Kind> kinds, Scope scope, Predicate<Resource> which, Columns columns, String nothing)
      throws InterruptedException {
    String[] options = selection().toArray(String[]::new);
    List<Resource> all = cluster().list(kinds, scope, options);
    List<Resource> found = all.stream().filter(which).toList();
    Table table = columns.table(found, session().clock().instant());
    if (found.isEmpty()) {
      complain(nothing);
    } else {
      say(table.toString());
    }
    if (!watch) {
      return Exit.DONE;
    }
    boolean hasHeader = !found.isEmpty();
    try (Watching watching = cluster().watch(kinds, scope, all, options)) {
      while (true) {
        Resource next = watching.next(EACH).filter(which).orElse(null);
        if (next != null) {
          String[] cells = columns.row(next, session().clock().instant()).toArray(String[]::new);
          String row = table.below(cells);
          say(hasHeader ? row : table.lines().get(0) + "\n" + row);
          hasHeader = true;
        }
      }
    }
  }

  /** Fails if a list is to be watched in a format that is printed once. */
  final void requireNoWatch(Format as) {
    if (watch) {
      throw new ParameterException(
          spec.commandLine(),
          "--watch: expected no -o, got -o "
              + as.value()
              + "; for programs: kubectl get --watch -o "
              + as.value());
    }
  }
}
