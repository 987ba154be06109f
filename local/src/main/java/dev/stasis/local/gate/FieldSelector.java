package dev.stasis.local.gate;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Iterator;

/** A field selector of a list: {@code involvedObject.name=trainer,type!=Normal}. */
record FieldSelector(String text) {

  /** Removes the other objects from the list; a single object is not changed. */
  void keepMatching(JsonNode list) {
    for (Iterator<JsonNode> items = list.path("items").iterator(); items.hasNext(); ) {
      if (!matches(items.next())) {
        items.remove();
      }
    }
  }

  private boolean matches(JsonNode object) {
    for (String part : text.split(",")) {
      String[] sides = part.split("!=|==?", 2);
      boolean same = new JsonPath("." + sides[0]).of(object).equals(sides[1]);
      if (same == part.contains("!=")) {
        return false;
      }
    }
    return true;
  }
}
