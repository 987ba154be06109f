package dev.stasis.operator.metric;

import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Informers;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The number of objects in a certain state, by namespace. Only the leading replica publishes it.
 *
 * @param <R> the kind
 */
public final class NamespaceGauge<R extends HasMetadata> {

  private final MultiGauge gauge;
  private final Predicate<R> counts;
  private Set<String> published = Set.of();

  public NamespaceGauge(String name, MeterRegistry registry, Predicate<R> counts) {
    this.gauge = MultiGauge.builder(name).register(registry);
    this.counts = counts;
  }

  /** Publishes the number when this replica leads, and after each change of it. */
  public void bind(
      Leadership leadership, Informers informers, Class<R> kind, Supplier<Collection<R>> all) {
    leadership.whenLeading(
        () -> {
          informers.listen(
              kind,
              change -> {
                if (isNews(change, namespace -> informers.has(namespace, kind))) {
                  publish(all);
                }
              });
          publish(all);
        });
  }

  /** Reads and publishes under one lock: an older number must not replace a newer one. */
  private synchronized void publish(Supplier<Collection<R>> all) {
    publish(all.get());
  }

  /**
   * Returns whether a number or the set of namespaces has changed. Otherwise nothing is counted:
   * there may be thousands of objects, and most that are created or deleted do not count.
   *
   * @param isUsed returns whether a namespace has objects now
   */
  synchronized boolean isNews(Changed<R> change, Predicate<String> isUsed) {
    String namespace = change.subject().getMetadata().getNamespace();
    return change.before().filter(counts).isPresent() != change.after().filter(counts).isPresent()
        || isUsed.test(namespace) != published.contains(namespace);
  }

  /** Publishes the number among these objects. */
  public synchronized void publish(Collection<R> all) {
    Map<String, Long> found =
        all.stream()
            .collect(
                Collectors.groupingBy(
                    it -> it.getMetadata().getNamespace(),
                    Collectors.summingLong(it -> counts.test(it) ? 1 : 0)));
    published = Set.copyOf(found.keySet());
    gauge.register(
        found.entrySet().stream()
            .<MultiGauge.Row<?>>map(
                row -> MultiGauge.Row.of(Tags.of("namespace", row.getKey()), row.getValue()))
            .toList(),
        true);
  }
}
