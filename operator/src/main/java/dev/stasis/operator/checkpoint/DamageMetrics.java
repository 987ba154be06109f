package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.metric.Leadership;
import dev.stasis.operator.status.Conditions;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The number of checkpoints whose artifact is damaged, by namespace. */
@Singleton
class DamageMetrics {

  private final Informers informers;
  private final Leadership leadership;
  private final MultiGauge damaged;

  DamageMetrics(Informers informers, Leadership leadership, MeterRegistry registry) {
    this.informers = informers;
    this.leadership = leadership;
    damaged = MultiGauge.builder("stasis_damaged_checkpoints").register(registry);
  }

  void bind(@Observes StartupEvent start) {
    leadership.whenLeading(
        () -> {
          informers.listen(
              GpuCheckpoint.class,
              change -> {
                if (!change
                    .before()
                    .filter(DamageMetrics::isDamaged)
                    .map(it -> true)
                    .equals(change.after().filter(DamageMetrics::isDamaged).map(it -> true))) {
                  publish(informers.checkpoints());
                }
              });
          publish(informers.checkpoints());
        });
  }

  synchronized void publish(List<GpuCheckpoint> checkpoints) {
    Map<String, Long> found =
        checkpoints.stream()
            .collect(
                Collectors.groupingBy(
                    checkpoint -> checkpoint.getMetadata().getNamespace(),
                    Collectors.summingLong(checkpoint -> isDamaged(checkpoint) ? 1 : 0)));
    damaged.register(
        found.entrySet().stream()
            .<MultiGauge.Row<?>>map(
                row -> MultiGauge.Row.of(Tags.of("namespace", row.getKey()), row.getValue()))
            .toList(),
        true);
  }

  private static boolean isDamaged(GpuCheckpoint checkpoint) {
    return Conditions.of(checkpoint.getStatus()).isDamaged();
  }
}
