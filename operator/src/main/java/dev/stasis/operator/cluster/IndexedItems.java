package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The item store of a watch, which keeps a reduced copy of each object, and finds objects by their
 * values. The client library's own index removes an object and adds it again at each update. A
 * lookup in between misses the object: a running operation would count as deleted, and a busy GPU
 * as free. Here a lookup finds an object at every moment of an update. Only the watch writes.
 */
final class IndexedItems<R extends HasMetadata> extends BasicItemStore<R> {

  private final UnaryOperator<R> kept;
  private final Map<String, Index<R>> indexes;

  /**
   * @param kept reduces an object
   * @param indexers return the values of a reduced object, for each index
   */
  IndexedItems(UnaryOperator<R> kept, Map<String, Function<R, List<String>>> indexers) {
    super(Cache::metaNamespaceKeyFunc);
    this.kept = kept;
    this.indexes =
        indexers.entrySet().stream()
            .collect(
                Collectors.toUnmodifiableMap(
                    Map.Entry::getKey,
                    indexer -> new Index<>(indexer.getValue(), new ConcurrentHashMap<>())));
  }

  /** Returns whether an object has that value. */
  boolean has(String name, String value) {
    return index(name).keys.containsKey(value);
  }

  List<R> by(String name, String value) {
    Index<R> index = index(name);
    return index.keys.getOrDefault(value, Set.of()).stream()
        .map(this::get)
        .filter(Objects::nonNull)
        // Its values may be those from before or after an update.
        .filter(found -> index.values.apply(found).contains(value))
        .toList();
  }

  @Override
  public @Nullable R put(String key, R object) {
    R after = kept.apply(object);
    Optional<R> before = Optional.ofNullable(get(key));
    indexes.values().forEach(index -> index.add(key, after));
    super.put(key, after);
    indexes.values().forEach(index -> index.remove(key, before, index.values.apply(after)));
    return before.orElse(null);
  }

  @Override
  public @Nullable R remove(String key) {
    R before = super.remove(key);
    indexes.values().forEach(index -> index.remove(key, Optional.ofNullable(before), List.of()));
    return before;
  }

  private Index<R> index(String name) {
    return Objects.requireNonNull(indexes.get(name), name);
  }

  /**
   * One index.
   *
   * @param values returns the values of an object
   * @param keys the keys of the objects with a value; a set of one is unmodifiable
   */
  private record Index<R>(
      Function<R, List<String>> values, ConcurrentMap<String, Set<String>> keys) {

    void add(String key, R object) {
      values.apply(object).forEach(value -> keys.merge(value, Set.of(key), Index::both));
    }

    private static Set<String> both(Set<String> known, Set<String> added) {
      if (known.containsAll(added)) {
        return known;
      }
      Set<String> both = known;
      if (known.size() == 1) {
        both = ConcurrentHashMap.newKeySet();
        both.addAll(known);
      }
      both.addAll(added);
      return both;
    }

    void remove(String key, Optional<R> before, List<String> except) {
      before.map(values).orElse(List.of()).stream()
          .filter(value -> !except.contains(value))
          .forEach(value -> keys.computeIfPresent(value, (same, known) -> without(known, key)));
    }

    private static @Nullable Set<String> without(Set<String> known, String key) {
      if (known.size() == 1) {
        return known.contains(key) ? null : known;
      }
      known.remove(key);
      return known;
    }
  }
}
