package dev.stasis.operator.metric;

import dev.stasis.operator.cluster.Informers;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.Collection;
import java.util.Map;
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
                if (change.cameOrWent()
                    || change.before().filter(counts).isPresent()
                        != change.after().filter(counts).isPresent()) {
                  publish(all.get());
                }
              });
          publish(all.get());
        });
  }

  /** Publishes the number among these objects. */
  public synchronized void publish(Collection<R> all) {
    Map<String, Long> found =
        all.stream()
            .collect(
                Collectors.groupingBy(
                    it -> it.getMetadata().getNamespace(),
                    Collectors.summingLong(it -> counts.test(it) ? 1 : 0)));
    gauge.register(
        found.entrySet().stream()
            .<MultiGauge.Row<?>>map(
                row -> MultiGauge.Row.of(Tags.of("namespace", row.getKey()), row.getValue()))
            .toList(),
        true);
  }
}
