package dev.stasis.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/** Fills in what a schema gives as default, as an API server does. */
final class SchemaDefaults {

  /** The object as it would be stored. */
  void fill(JsonNode value, JsonNode schema) {
    if (value instanceof ObjectNode object) {
      for (Map.Entry<String, JsonNode> property : schema.path("properties").properties()) {
        JsonNode standard = property.getValue().get("default");
        if (standard != null && !object.has(property.getKey())) {
          object.set(property.getKey(), standard.deepCopy());
        }
        if (object.has(property.getKey())) {
          fill(object.get(property.getKey()), property.getValue());
        }
      }
    } else if (value.isArray()) {
      for (JsonNode element : value) {
        fill(element, schema.path("items"));
      }
    }
  }
}
