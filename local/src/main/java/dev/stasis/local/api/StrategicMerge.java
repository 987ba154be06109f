package dev.stasis.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/** A strategic merge that knows the merge keys of a pod's lists. */
final class StrategicMerge {

  private static final Map<String, String> KEYS =
      Map.of(
          "conditions", "type",
          "containers", "name",
          "initContainers", "name",
          "volumes", "name",
          "env", "name",
          "volumeMounts", "mountPath");

  /** Changes the object in place. */
  void apply(ObjectNode object, JsonNode patch) {
    for (Map.Entry<String, JsonNode> field : patch.properties()) {
      String name = field.getKey();
      JsonNode wanted = field.getValue();
      if (wanted.isNull()) {
        object.remove(name);
      } else if (wanted.isObject() && object.get(name) instanceof ObjectNode there) {
        apply(there, wanted);
      } else if (wanted instanceof ArrayNode list
          && KEYS.containsKey(name)
          && object.get(name) instanceof ArrayNode there) {
        apply(there, list, KEYS.get(name));
      } else {
        object.set(name, wanted.deepCopy());
      }
    }
  }

  private void apply(ArrayNode there, ArrayNode patch, String key) {
    for (JsonNode element : patch) {
      ObjectNode same = null;
      for (JsonNode candidate : there) {
        if (candidate instanceof ObjectNode object
            && object.path(key).asText().equals(element.path(key).asText())) {
          same = object;
        }
      }
      if (same == null) {
        there.add(element.deepCopy());
      } else {
        apply(same, element);
      }
    }
  }
}
