package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.metric.Leadership;
import dev.stasis.operator.status.Reason;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** The number of restores without a matching node, by namespace. */
@Singleton
class WaitingMetrics {

  private final Informers informers;
  private final Leadership leadership;
  private final MultiGauge withoutNode;

  WaitingMetrics(Informers informers, Leadership leadership, MeterRegistry registry) {
    this.informers = informers;
    this.leadership = leadership;
    withoutNode = MultiGauge.builder("stasis_restores_without_node").register(registry);
  }

  void bind(@Observes StartupEvent start) {
    leadership.whenLeading(
        () -> {
          informers.listen(GpuRestore.class, change -> publish(informers.restores()));
          publish(informers.restores());
        });
  }

  synchronized void publish(List<GpuRestore> restores) {
    Map<String, Long> waiting =
        restores.stream()
            .collect(
                Collectors.groupingBy(
                    restore -> restore.getMetadata().getNamespace(),
                    Collectors.summingLong(restore -> waits(restore) ? 1 : 0)));
    withoutNode.register(
        waiting.entrySet().stream()
            .<MultiGauge.Row<?>>map(
                row -> MultiGauge.Row.of(Tags.of("namespace", row.getKey()), row.getValue()))
            .toList(),
        true);
  }

  private static boolean waits(GpuRestore restore) {
    GpuRestoreStatus status = restore.getStatus();
    return status != null
        && status.getPhase() != null
        && !status.getPhase().isFinal()
        && Objects.requireNonNullElse(status.getConditions(), List.<Condition>of()).stream()
            .anyMatch(condition -> Reason.NO_NODE_FITS.is(condition.reason()));
  }
}
