package dev.stasis.operator.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Set;

/**
 * Determines whether a status must be written, by the JSON that the API server would store. A null
 * field equals a missing one.
 */
public final class Changes {

  private static final Set<String> PROGRESS =
      Set.of("doneBytes", "totalBytes", "progress", "bytesPerSecond", "rate");

  private final KubernetesSerialization serialization;

  /**
   * @param serialization the serialization for the API server
   */
  public Changes(KubernetesSerialization serialization) {
    this.serialization = serialization;
  }

  /**
   * Returns the current state of a status for a later comparison, because the status itself may be
   * changed.
   */
  public JsonNode snapshot(Object status) {
    return read(text(status));
  }

  /** Returns the current state of a status as JSON: cheaper than a snapshot, for most are equal. */
  public String text(Object status) {
    return serialization.asJson(status);
  }

  private JsonNode read(String text) {
    // From text, so that 1 is the same number as an int and as a long.
    return withoutNulls(serialization.unmarshal(text, JsonNode.class));
  }

  /** Compares an earlier state as JSON with the current status. */
  public Change between(String before, Object after) {
    String now = text(after);
    return now.equals(before) ? Change.NONE : between(read(before), read(now));
  }

  /** Compares a snapshot with the current status. */
  public Change between(JsonNode before, Object after) {
    return between(before, snapshot(after));
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
