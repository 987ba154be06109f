package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.metric.Leadership;
import dev.stasis.operator.metric.NamespaceGauge;
import dev.stasis.operator.status.Conditions;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;

/** Publishes the number of checkpoints whose artifact is damaged. */
@Singleton
class DamageMetrics {

  void bind(
      @Observes StartupEvent start,
      Informers informers,
      Leadership leadership,
      MeterRegistry registry) {
    gauge(registry).bind(leadership, informers, GpuCheckpoint.class, informers::checkpoints);
  }

  static NamespaceGauge<GpuCheckpoint> gauge(MeterRegistry registry) {
    return new NamespaceGauge<>(
        "stasis_damaged_checkpoints",
        registry,
        checkpoint -> Conditions.of(checkpoint.getStatus()).isDamaged());
  }
}
