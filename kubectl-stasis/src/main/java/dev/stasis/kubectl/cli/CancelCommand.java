package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.report.Course;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Cancels requests in progress. */
@Command(
    name = "cancel",
    description =
        "Cancels a checkpoint, restore or migration: it is rolled back, and the workload keeps"
            + " running.",
    sortOptions = false)
final class CancelCommand extends RequestCommand {

  @Parameters(paramLabel = "NAME", description = "its name, or KIND/NAME")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String name;

  CancelCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    Resource found = new Finder(cluster()).request(name);
    Course course = new Course(found);
    if (course.isOver()) {
      complain(
          found.title()
              + ": expected a request in progress, got phase "
              + course.phase()
              + "; nothing was done");
      return Exit.FAILED;
    }
    if (dryRun) {
      say(found.title() + ": would be cancelled (dry run)");
      return Exit.DONE;
    }
    int exit = follow(cancel(found), "is being cancelled", timeout());
    return exit == Exit.FAILED ? Exit.DONE : exit;
  }
}
