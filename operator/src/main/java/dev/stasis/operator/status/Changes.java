package dev.stasis.operator.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.operator.cluster.SharingSerialization;
import java.util.Set;

/**
 * Determines whether a status must be written, by the JSON that the API server would store. A null
 * field equals a missing one.
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
    return now.equals(before) ? Change.NONE : between(stored(before), stored(now));
  }

  private JsonNode stored(JsonNode state) {
    // From text, so that 1 is the same number as an int and as a long.
    return withoutNulls(serialization.unmarshal(serialization.asJson(state), JsonNode.class));
  }

  private static Change between(JsonNode before, JsonNode now) {
    if (now.equals(before)) {
      return Change.NONE;
    }
    return withoutProgress(now).equals(withoutProgress(before))
        ? Change.PROGRESS
        : Change.SUBSTANCE;
  }

  private static JsonNode withoutProgress(JsonNode status) {
    return status instanceof ObjectNode fields ? fields.deepCopy().remove(PROGRESS) : status;
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
