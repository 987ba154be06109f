package dev.stasis.kubectl.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.stasis.kubectl.cluster.JsonReader;
import dev.stasis.kubectl.cluster.Resource;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** {@code kubectl stasis logs}: phases, events and log lines of an object, by time. */
public final class Story {

  private record Line(Instant time, String who, String text) {}

  private final JsonReader json;
  private final List<Line> lines = new ArrayList<>();

  /** Creates an empty one. */
  public Story(JsonReader json) {
    this.json = json;
  }

  /** Adds the phases of an object, and its faults at its end. */
  public void phases(Resource object) {
    Instant last = object.time("metadata.creationTimestamp").orElse(Instant.EPOCH);
    for (Resource phase : object.list("status.phases")) {
      last = phase.time("time").orElse(last);
      lines.add(new Line(last, object.title(), phase.text("phase")));
    }
    for (Resource fault : object.list("status.faults")) {
      lines.add(new Line(last, object.title(), Course.sentence(fault)));
    }
  }

  /** Adds an event. */
  public void event(Resource event) {
    Optional<Instant> time =
        event
            .time("lastTimestamp")
            .or(() -> event.time("eventTime"))
            .or(() -> event.time("metadata.creationTimestamp"));
    lines.add(
        new Line(
            time.orElse(Instant.EPOCH),
            event.text("involvedObject.kind") + "/" + event.text("involvedObject.name"),
            event.text("reason") + ": " + event.text("message")));
  }

  /**
   * Adds a log line if it belongs to one of these operations, or to an object with one of these
   * uids.
   */
  public void logLine(String pod, String line, Set<String> operations, Set<String> uids) {
    if (!line.startsWith("{")) {
      return;
    }
    try {
      Resource record = new Resource(json.tree(line));
      if (operations.contains(record.text("operation")) || uids.contains(record.text("uid"))) {
        String step = record.text("step");
        lines.add(
            new Line(
                time(record),
                pod,
                record.text("level")
                    + " "
                    + (step.isEmpty() ? "" : step + ": ")
                    + record.text("message")
                    + stack(record)));
      }
    } catch (JsonProcessingException notOurs) {
      // Lines that a library wrote to standard error itself do not belong to an operation.
      return;
    }
  }

  private static Instant time(Resource record) {
    String text = record.text("timestamp");
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeParseException without) {
      return Instant.EPOCH;
    }
  }

  private static String stack(Resource record) {
    String type = record.text("exception.exceptionType");
    return type.isEmpty() ? "" : " (" + type + ": " + record.text("exception.message") + ")";
  }

  /** Returns whether there is nothing to show. */
  public boolean isEmpty() {
    return lines.isEmpty();
  }

  /** As text, without a line break at its end. */
  public String text() {
    return String.join(
        "\n",
        lines.stream()
            .sorted(Comparator.comparing(Line::time))
            .map(line -> line.time() + "  " + line.who() + "  " + line.text())
            .toList());
  }
}
