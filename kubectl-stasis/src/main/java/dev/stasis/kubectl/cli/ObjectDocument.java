package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.Resource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The objects that a command prints for programs. They are printed as one document when it is
 * closed, also by a failure: as kubectl does, the object that was named, or a List.
 */
final class ObjectDocument implements AutoCloseable {

  private final Terminal terminal;
  private final ClusterCommand.@Nullable Format format;
  private final boolean isList;
  private final List<Resource> objects = new ArrayList<>();

  /**
   * Creates an empty document.
   *
   * @param format its format; none if the command prints text
   * @param isList false if exactly one object was named
   */
  ObjectDocument(Terminal terminal, ClusterCommand.@Nullable Format format, boolean isList) {
    this.terminal = terminal;
    this.format = format;
    this.isList = isList;
  }

  /** Adds an object. */
  void add(Resource object) {
    objects.add(object);
  }

  @Override
  public void close() {
    if (format == null) {
      return;
    }
    if (isList) {
      ObjectNode list = JsonNodeFactory.instance.objectNode();
      list.put("apiVersion", "v1");
      list.put("kind", "List");
      ArrayNode items = list.putArray("items");
      objects.forEach(one -> items.add(withoutManagedFields(one)));
      terminal.say(format.text(list));
    } else if (!objects.isEmpty()) {
      terminal.say(format.text(withoutManagedFields(objects.get(0))));
    }
  }

  /** An object of a watch has them, although kubectl does not print them otherwise. */
  private static JsonNode withoutManagedFields(Resource object) {
    JsonNode copy = object.json().deepCopy();
    if (copy.path("metadata") instanceof ObjectNode metadata) {
      metadata.remove("managedFields");
    }
    return copy;
  }
}
