package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Words;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * {@code kubectl stasis list}: checkpoints, restores and migrations, the newest last.
 *
 * @param namespaces whether there is a column for the namespace
 */
public record RequestTable(boolean namespaces) implements Columns {

  @Override
  public List<String> header() {
    List<String> header =
        new ArrayList<>(List.of("NAME", "POD", "NODE", "PHASE", "SIZE", "TIME", "AGE", "REASON"));
    if (namespaces) {
      header.add(0, "NAMESPACE");
    }
    return header;
  }

  @Override
  public Comparator<Resource> order() {
    return Comparator.comparing(it -> it.text("metadata.creationTimestamp"));
  }

  @Override
  public List<String> row(Resource object, Instant now) {
    List<String> row = new ArrayList<>();
    if (namespaces) {
      row.add(object.namespace());
    }
    row.add(object.title());
    row.add(pod(object));
    row.add(node(object));
    row.add(new Course(object).phase());
    row.add(size(object));
    row.add(time(object));
    row.add(Words.age(object.time("metadata.creationTimestamp"), now));
    row.add(object.text("status.reason"));
    return row;
  }

  private static String pod(Resource object) {
    return is(object, Kind.RESTORE)
        ? object.text("status.pod.name")
        : object.text("spec.podRef.name");
  }

  private static String node(Resource object) {
    if (!is(object, Kind.MIGRATION)) {
      return object.text("status.pod.node");
    }
    String from = object.text("status.source.node");
    String to = object.text("status.target.node");
    return to.isEmpty() ? from : from + ">" + to;
  }

  /** Returns the size of a finished request, or the progress of a running one. */
  private static String size(Resource object) {
    String progress = object.text("status.progress");
    String size =
        is(object, Kind.MIGRATION)
            ? object.text("status.size")
            : object.text("status.artifact.size");
    return new Course(object).isOver() || progress.isEmpty() ? size : progress;
  }

  private static String time(Resource object) {
    if (is(object, Kind.CHECKPOINT)) {
      return object.text("status.timings.frozen");
    }
    return is(object, Kind.RESTORE)
        ? object.text("status.timings.took")
        : object.text("status.downtime");
  }

  private static boolean is(Resource object, Kind kind) {
    return object.kind().equals(kind.value());
  }
}
