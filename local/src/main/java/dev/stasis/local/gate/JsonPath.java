package dev.stasis.local.gate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The subset of JSONPath that printer columns use: names, indexes, and an element by one of its
 * fields.
 */
record JsonPath(String path) {

  private static final Pattern STEP =
      Pattern.compile(
          "\\.([A-Za-z0-9_-]+)|\\[([0-9]+)]|\\[\\?\\(@\\.([A-Za-z]+) *== *[\"']([^\"']*)[\"']\\)]");

  /** Returns the value, an object or list as JSON; empty if there is none. */
  String of(JsonNode object) {
    JsonNode at = object;
    Matcher step = STEP.matcher(path);
    while (step.find()) {
      if (step.group(1) != null) {
        at = at.path(step.group(1));
      } else if (step.group(2) != null) {
        at = at.path(Integer.parseInt(step.group(2)));
      } else {
        at = element(at, step.group(3), step.group(4));
      }
    }
    if (at.isContainerNode()) {
      return at.toString();
    }
    return at.isNull() ? "" : at.asText();
  }

  private static JsonNode element(JsonNode list, String field, String value) {
    for (JsonNode element : list) {
      if (element.path(field).asText().equals(value)) {
        return element;
      }
    }
    return MissingNode.getInstance();
  }
}
