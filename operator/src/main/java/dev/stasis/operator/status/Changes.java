package dev.stasis.operator.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.operator.cluster.SharingSerialization;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Determines whether a status must be written, by the JSON that the API server would store. A null
 * field equals a missing one, and so does an empty list: the client's patches leave both out.
 */
public final class Changes {

  private static final Set<String> PROGRESS =
      Set.of("doneBytes", "totalBytes", "progress", "bytesPerSecond", "rate");

  private final SharingSerialization serialization;

  /**
   * @param serialization the serialization for the API server
   */
  public Changes(SharingSerialization serialization) {
    this.serialization = serialization;
  }

  /**
   * Returns the current state of a status for a later comparison, because the status itself may be
   * changed.
   */
  public JsonNode snapshot(Object status) {
    return stored(tree(status));
  }

  /** Returns the same for {@link #between} alone: cheaper, for most are equal. */
  public JsonNode tree(Object status) {
    return serialization.tree(status);
  }

  /** Compares an earlier state with the current status. */
  public Change between(JsonNode before, Object after) {
    JsonNode now = tree(after);
    if (now.equals(before)) {
      return Change.NONE;
    }
    Set<String> changed = new HashSet<>();
    names(before, now)
        .filter(name -> !isSame(before.path(name), now.path(name)))
        .forEach(changed::add);
    if (changed.isEmpty()) {
      return Change.NONE;
    }
    return PROGRESS.containsAll(changed) ? Change.PROGRESS : Change.SUBSTANCE;
  }

  private static Stream<String> names(JsonNode one, JsonNode other) {
    return Stream.of(one, other)
        .flatMap(node -> node.properties().stream())
        .map(Map.Entry::getKey)
        .distinct();
  }

  /** Compares without their text what both have in the same form: few fields have not. */
  private boolean isSame(JsonNode one, JsonNode other) {
    if (isNone(one) || isNone(other)) {
      return isNone(one) && isNone(other);
    }
    if (one.isObject() && other.isObject()) {
      return names(one, other).allMatch(name -> isSame(one.path(name), other.path(name)));
    }
    if (one.isArray() && other.isArray()) {
      return one.size() == other.size()
          && IntStream.range(0, one.size()).allMatch(i -> isSame(one.get(i), other.get(i)));
    }
    if (one.isNumber() && other.isNumber()) {
      // One that was read may be an int, and the same one that was computed a long.
      return one.asText().equals(other.asText());
    }
    return one.equals(other) || ((one.isPojo() || other.isPojo()) && text(one).equals(text(other)));
  }

  /** A packed object as what it contains. Only an object is read as JSON, anything else as YAML. */
  private JsonNode text(JsonNode packed) {
    return stored(JsonNodeFactory.instance.objectNode().set("packed", packed));
  }

  private static boolean isNone(JsonNode node) {
    return node.isNull() || node.isMissingNode() || (node.isArray() && node.isEmpty());
  }

  private JsonNode stored(JsonNode state) {
    // From text, so that 1 is the same number as an int and as a long.
    return withoutNulls(serialization.unmarshal(serialization.asJson(state), JsonNode.class));
  }

  private static JsonNode withoutNulls(JsonNode node) {
    if (node instanceof ObjectNode object) {
      object.properties().removeIf(field -> field.getValue().isNull());
      object.forEach(Changes::withoutNulls);
    } else if (node instanceof ArrayNode array) {
      array.forEach(Changes::withoutNulls);
    }
    return node;
  }
}
