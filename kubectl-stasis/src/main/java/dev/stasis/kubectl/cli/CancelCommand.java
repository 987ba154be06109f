package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.Course;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Cancels requests in progress. */
@Command(
    name = "cancel",
    description =
        "Cancels checkpoints, restores or migrations in progress: they are rolled back, and the"
            + " workloads keep running.",
    sortOptions = false)
final class CancelCommand extends RequestCommand {

  @Parameters(paramLabel = "NAME", arity = "0..*", description = "its name, or KIND/NAME")
  List<String> names = new ArrayList<>();

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  ObjectSelection selection;

  CancelCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    selection.require(spec, names);
    Instant end = session().clock().instant().plus(timeout());
    int exit = Exit.DONE;
    List<Resource> cancelled = new ArrayList<>();
    List<Resource> chosen = chosen();
    try (ObjectDocument document = document(names.size() != 1)) {
      for (Resource found : chosen) {
        Course course = new Course(found);
        if (course.isOver()) {
          complain(
              found.title()
                  + ": expected a request in progress, got phase "
                  + course.phase()
                  + "; nothing was done");
          exit = Exit.FAILED;
        } else if (dryRun) {
          tellDryRun(found, "cancelled", document);
        } else {
          cancelled.add(told(cancel(found), "is being cancelled", document));
        }
      }
      for (Resource one : cancelled) {
        // Not one that has failed, whose workload may be lost, nor one that was finished before.
        exit = Math.max(exit, awaited(one, end, document, last -> new Course(last).isUndone()));
      }
    }
    return exit;
  }

  private List<Resource> chosen() {
    if (!selection.isMade()) {
      Finder finder = new Finder(cluster());
      return names.stream().map(finder::request).toList();
    }
    List<Resource> found =
        cluster().list(Kind.REQUESTS, new Scope.Current(), selection.options()).stream()
            .filter(one -> !new Course(one).isOver())
            .toList();
    if (found.isEmpty()) {
      complain("no request in progress found in this namespace");
    }
    return found;
  }
}
