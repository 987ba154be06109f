package dev.stasis.operator.store;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * When a changed status of a store is written. Sizes and numbers of artifacts are written rarely.
 */
final class StoreStatusWrites {

  /**
   * Every agent watches the stores, and the status of one has a row for each of up to 500 nodes (70
   * kB): at 1,000 agents a write every five seconds was 14 MB/s.
   */
  static final Duration SIZES_EVERY = Duration.ofMinutes(1);

  private static final List<String> SIZES =
      List.of(
          "usedBytes",
          "used",
          "freeBytes",
          "free",
          "logicalBytes",
          "logical",
          "ratio",
          "storedBytes",
          "measuredTime",
          "artifacts",
          "namespaces");

  private final Map<String, Instant> written = new ConcurrentHashMap<>();

  /**
   * Returns the delay until the status is written; zero means now, which is recorded; empty if it
   * is unchanged.
   */
  Optional<Duration> due(String store, JsonNode before, JsonNode after, Instant now) {
    if (before.equals(after)) {
      return Optional.empty();
    }
    Instant next = written.getOrDefault(store, Instant.EPOCH).plus(SIZES_EVERY);
    if (next.isAfter(now) && withoutSizes(before).equals(withoutSizes(after))) {
      return Optional.of(Duration.between(now, next));
    }
    written.put(store, now);
    return Optional.of(Duration.ZERO);
  }

  private static JsonNode withoutSizes(JsonNode status) {
    JsonNode rest = status.deepCopy();
    remove(rest);
    rest.path("nodes").forEach(StoreStatusWrites::remove);
    return rest;
  }

  private static void remove(JsonNode object) {
    if (object instanceof ObjectNode fields) {
      fields.remove(SIZES);
    }
  }
}
