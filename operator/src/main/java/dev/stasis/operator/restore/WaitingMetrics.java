package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.metric.Leadership;
import dev.stasis.operator.metric.NamespaceGauge;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.Reason;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;

/** Publishes the number of restores without a matching node. */
@Singleton
class WaitingMetrics {

  void bind(
      @Observes StartupEvent start,
      Informers informers,
      Leadership leadership,
      MeterRegistry registry) {
    gauge(registry).bind(leadership, informers, GpuRestore.class, informers::restores);
  }

  static NamespaceGauge<GpuRestore> gauge(MeterRegistry registry) {
    return new NamespaceGauge<>("stasis_restores_without_node", registry, WaitingMetrics::waits);
  }

  private static boolean waits(GpuRestore restore) {
    return !CurrentPhase.of(restore).isFinal()
        && Conditions.of(restore.getStatus()).list().stream()
            .anyMatch(condition -> Reason.NO_NODE_FITS.is(condition.reason()));
  }
}
