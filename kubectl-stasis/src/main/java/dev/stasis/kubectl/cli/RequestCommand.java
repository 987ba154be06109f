package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.Course;
import dev.stasis.kubectl.report.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command that creates a request, and may wait for it. */
abstract class RequestCommand extends ClusterCommand {

  /** Names are used as label values, with five random letters of the API server. */
  private static final int LONGEST_PREFIX = 57;

  @Option(names = "--wait", description = "waits until it is finished, and shows the progress")
  boolean wait;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "30m",
      description =
          "stops waiting after this time; the request continues. Default: ${DEFAULT-VALUE}")
  String timeout = "30m";

  @Option(
      names = "--dry-run",
      description = "has the API server check the request, and creates nothing")
  boolean dryRun;

  RequestCommand(Session session) {
    super(session);
  }

  /** A manifest with a given name, or with a prefix for a generated one. */
  final ObjectNode named(Kind kind, @Nullable String name, String prefix) {
    ObjectNode manifest = manifest(kind);
    ObjectNode metadata = (ObjectNode) manifest.path("metadata");
    if (name != null) {
      metadata.put("name", name);
    } else {
      String cut = prefix.substring(0, Math.min(prefix.length(), LONGEST_PREFIX));
      metadata.put("generateName", cut.replaceAll("[.-]+$", "") + "-");
    }
    return manifest;
  }

  /** Creates the request, prints that, and waits if requested. */
  final int request(ObjectNode manifest) throws InterruptedException {
    Duration atMost = duration(timeout);
    Resource made = cluster().create(new Scope.Current(), manifest, dryRun);
    if (dryRun) {
      try (ObjectDocument document = document(false)) {
        tellDryRun(made, "created", document);
      }
      return Exit.DONE;
    }
    return follow(made, "created", atMost);
  }

  /** Prints what was done to an object, and waits for its end if requested. */
  final int follow(Resource object, String done, Duration atMost) throws InterruptedException {
    Instant until = session().clock().instant().plus(atMost);
    try (ObjectDocument document = document(false)) {
      return awaited(told(object, done, document), until, document);
    }
  }

  /** Prints what would be done to an object. */
  final void tellDryRun(Resource object, String done, ObjectDocument document) {
    if (format == null) {
      say(object.title() + ": would be " + done + " (dry run)");
    } else {
      document.add(object);
    }
  }

  /** Prints what was done to an object, unless its end is awaited. */
  final Resource told(Resource object, String done, ObjectDocument document) {
    if (!wait) {
      tell(object, done, document);
    }
    return object;
  }

  /** Waits for the end of an object if requested, and prints it. */
  final int awaited(Resource object, Instant until, ObjectDocument document)
      throws InterruptedException {
    return awaited(object, until, document, last -> !new Course(last).isBad());
  }

  /**
   * The same.
   *
   * @param good whether an end is a success of the command
   */
  final int awaited(
      Resource object, Instant until, ObjectDocument document, Predicate<Resource> good)
      throws InterruptedException {
    if (!wait) {
      return Exit.DONE;
    }
    Duration atMost = Duration.between(session().clock().instant(), until);
    Optional<Resource> end = new Waiting(session(), cluster()).untilOver(object, atMost);
    if (end.isEmpty()) {
      complain(object.title() + ": not finished after " + timeout + "; it continues");
      return Exit.NOT_YET;
    }
    if (format == null) {
      say(new Outcome().text(end.get()));
    } else {
      document.add(end.get());
    }
    return good.test(end.get()) ? Exit.DONE : Exit.FAILED;
  }

  private void tell(Resource object, String done, ObjectDocument document) {
    if (format != null) {
      document.add(object);
      return;
    }
    say(object.title() + " " + done);
    if (session().terminal().isScreen()) {
      say("  follow it: kubectl stasis list -w -n " + object.namespace() + ", or --wait next time");
    }
  }

  final Duration timeout() {
    return duration(timeout);
  }
}
