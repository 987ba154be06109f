package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The result of a finished object in a sentence or two, with possible next steps. */
public final class Outcome {

  /** As text, without a line break at its end. */
  public String text(Resource object) {
    Course course = new Course(object);
    List<String> lines = new ArrayList<>();
    if (course.isBad()) {
      lines.add(object.title() + ": " + course.phase());
      course.reasons().forEach(reason -> lines.add("  - " + reason));
      String running = object.condition("SourceRunning").text("message");
      if (!running.isEmpty()) {
        lines.add("  the workload: " + running);
      }
      if (object.is("Ready")) {
        lines.add("  its artifact is complete");
        lines.add(restore(object));
      }
      lines.add("  details: kubectl stasis logs " + object.name() + in(object));
    } else {
      lines.add(object.title() + ": " + done(object, course));
      next(object, course).ifPresent(lines::add);
    }
    return String.join("\n", lines);
  }

  private static String done(Resource object, Course course) {
    List<String> parts = new ArrayList<>(List.of(course.phase()));
    add(parts, "", object.text("status.artifact.size"));
    add(parts, "frozen for ", object.text("status.timings.frozen"));
    add(parts, "took ", object.text("status.timings.took"));
    add(parts, "downtime ", object.text("status.downtime"));
    String node =
        object.kind().equals(Kind.MIGRATION.value())
            ? object.text("status.target.node")
            : object.text("status.pod.node");
    add(parts, "on ", node);
    return String.join(", ", parts);
  }

  private static Optional<String> next(Resource object, Course course) {
    return switch (course.phase()) {
      case "Ready" -> Optional.of(restore(object));
      case "Suspended" ->
          Optional.of(
              "  resume it: kubectl stasis resume " + object.text("spec.podRef.name") + in(object));
      default -> Optional.empty();
    };
  }

  private static String restore(Resource object) {
    return "  restore it: kubectl stasis restore " + object.name() + in(object);
  }

  private static String in(Resource object) {
    return " -n " + object.namespace();
  }

  private static void add(List<String> parts, String before, String value) {
    if (!value.isEmpty()) {
      parts.add(before + value);
    }
  }
}
