package dev.stasis.store;

import java.time.Instant;
import java.util.Map;

/**
 * The content of a store.
 *
 * @param time when it was measured, by the store's clock
 * @param bytes the size of everything of a namespace, by its UID; what a collection would free
 *     included
 */
public record MeasuredUsage(Instant time, Map<String, Long> bytes) {
  public MeasuredUsage {
    bytes = Map.copyOf(bytes);
  }

  /** Returns the size of everything. */
  public long total() {
    return bytes.values().stream().mapToLong(Long::longValue).sum();
  }
}
