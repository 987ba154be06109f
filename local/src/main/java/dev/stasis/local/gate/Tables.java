package dev.stasis.local.gate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;

/** Converts objects to the tables that kubectl prints. */
final class Tables {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Clock clock;

  Tables(Clock clock) {
    this.clock = clock;
  }

  /**
   * @param answer an object or a list
   */
  ObjectNode of(Kind kind, JsonNode answer) {
    ObjectNode table =
        JSON.createObjectNode().put("kind", "Table").put("apiVersion", "meta.k8s.io/v1");
    table.putObject("metadata").put("resourceVersion", "1");
    ArrayNode columns = table.putArray("columnDefinitions");
    column(columns, "Name", "string", 0);
    kind.columns().forEach(it -> column(columns, it.name(), it.type(), it.priority()));
    ArrayNode rows = table.putArray("rows");
    if (answer.has("items")) {
      answer.path("items").forEach(item -> row(rows, kind, item));
    } else {
      row(rows, kind, answer);
    }
    return table;
  }

  private static void column(ArrayNode columns, String name, String type, int priority) {
    columns
        .addObject()
        .put("name", name)
        .put("type", type.equals("integer") || type.equals("boolean") ? type : "string")
        .put("format", name.equals("Name") ? "name" : "")
        .put("description", "")
        .put("priority", priority);
  }

  private void row(ArrayNode rows, Kind kind, JsonNode item) {
    ObjectNode row = rows.addObject();
    ArrayNode cells = row.putArray("cells");
    cells.add(item.path("metadata").path("name").asText());
    for (Kind.Column column : kind.columns()) {
      cells.add(cell(column, item));
    }
    ObjectNode object = row.putObject("object");
    object.put("kind", "PartialObjectMetadata").put("apiVersion", "meta.k8s.io/v1");
    object.set("metadata", item.path("metadata"));
  }

  private String cell(Kind.Column column, JsonNode item) {
    return switch (column.type()) {
      case "date" -> age(new JsonPath(column.path()).of(item));
      case Kind.READY -> ready(item);
      case Kind.STATUS ->
          item.path("metadata").has("deletionTimestamp")
              ? "Terminating"
              : item.path("status").path("phase").asText();
      default -> new JsonPath(column.path()).of(item);
    };
  }

  private static String ready(JsonNode pod) {
    int ready = 0;
    for (JsonNode container : pod.path("status").path("containerStatuses")) {
      ready += container.path("ready").asBoolean() ? 1 : 0;
    }
    return ready + "/" + pod.path("spec").path("containers").size();
  }

  private String age(String time) {
    try {
      Duration age = Duration.between(Instant.parse(time), clock.instant());
      if (age.toHours() >= 48) {
        return age.toDays() + "d";
      }
      if (age.toMinutes() >= 120) {
        return age.toHours() + "h";
      }
      return age.toSeconds() >= 120 ? age.toMinutes() + "m" : age.toSeconds() + "s";
    } catch (DateTimeParseException e) {
      return "";
    }
  }
}
