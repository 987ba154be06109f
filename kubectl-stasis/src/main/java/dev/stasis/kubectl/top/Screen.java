package dev.stasis.kubectl.top;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.report.Course;
import dev.stasis.kubectl.report.NodeTable;
import dev.stasis.kubectl.report.ProgressLine;
import dev.stasis.kubectl.screen.Printable;
import dev.stasis.kubectl.screen.Words;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Draws the activity as lines of text. */
public final class Screen {

  /** The number of failures shown; older ones are in {@code kubectl stasis list}. */
  public static final int FAILURES = 5;

  private static final String CHOSEN = "> ";
  private static final String NOT_CHOSEN = "  ";

  private final List<String> lines = new ArrayList<>();
  private final Picture picture;
  private final int chosen;
  private int index;

  /** With one of the items marked; -1 for none. */
  public Screen(Picture picture, int chosen) {
    this.picture = picture;
    this.chosen = chosen;
  }

  /** Returns the lines, none longer than the width; 0 for no limit. */
  public List<String> lines(int width) {
    head();
    String nodes = new NodeTable().text(picture.nodes(), picture.now());
    if (!nodes.isEmpty()) {
      lines.add("");
      lines.addAll(nodes.lines().toList());
    }
    section("IN PROGRESS", picture.atWork(), this::work);
    section("WAITING", picture.queue(), this::waiting);
    section("SUSPENDED", picture.suspended(), this::suspended);
    section("LAST FAILURES", picture.failures(FAILURES), this::failure);
    return lines.stream()
        .map(Printable::line)
        .map(line -> width > 0 && line.length() > width ? line.substring(0, width) : line)
        .toList();
  }

  private void head() {
    long gpus = picture.nodes().stream().mapToLong(it -> it.number("status.gpuCount")).sum();
    long frozen = picture.nodes().stream().mapToLong(it -> it.number("status.frozenPods")).sum();
    lines.add(
        "stasis   nodes "
            + picture.nodes().size()
            + "   gpus "
            + gpus
            + "   frozen "
            + frozen
            + "   in progress "
            + picture.atWork().size()
            + "   waiting "
            + picture.queue().size());
  }

  private void section(String title, List<Resource> objects, Row row) {
    if (objects.isEmpty()) {
      return;
    }
    lines.add("");
    lines.add(title);
    for (Resource object : objects) {
      lines.add((index++ == chosen ? CHOSEN : NOT_CHOSEN) + row.text(object));
    }
  }

  private interface Row {
    String text(Resource object);
  }

  private String work(Resource object) {
    return object.namespace() + "  " + new ProgressLine().text(object, age(object));
  }

  private String waiting(Resource object) {
    return named(object)
        + "  "
        + Words.span(age(object))
        + "  "
        + object.text("status.reason")
        + ": "
        + object.text("status.message");
  }

  private String suspended(Resource object) {
    return named(object)
        + "  "
        + object.text("spec.podRef.name")
        + " on "
        + object.text("status.pod.node")
        + "  for "
        + Words.age(object.time("status.suspendedTime"), picture.now());
  }

  private String failure(Resource object) {
    String why = new Course(object).reasons().stream().findFirst().orElse("");
    return named(object)
        + "  "
        + new Course(object).phase()
        + " "
        + Words.span(age(object))
        + " ago  "
        + why;
  }

  private static String named(Resource object) {
    return object.namespace() + "  " + object.title();
  }

  private Duration age(Resource object) {
    return object
        .time("metadata.creationTimestamp")
        .map(since -> Duration.between(since, picture.now()))
        .orElse(Duration.ZERO);
  }
}
