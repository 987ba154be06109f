package dev.stasis.operator.cluster;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A thread-safe map of the newest entries: state beside the caches must not grow while the operator
 * runs.
 */
public final class RecentMap<K, V> {

  private final Map<K, V> entries;

  /**
   * @param most maximum number of entries; the oldest are removed first
   */
  public RecentMap(int most) {
    this.entries =
        new LinkedHashMap<>() {
          @Override
          protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > most;
          }
        };
  }

  public synchronized Optional<V> get(K key) {
    return Optional.ofNullable(entries.get(key));
  }

  /** Returns the previous value; null for none. */
  public synchronized @Nullable V put(K key, V value) {
    return entries.put(key, value);
  }

  public synchronized void remove(K key) {
    entries.remove(key);
  }
}
