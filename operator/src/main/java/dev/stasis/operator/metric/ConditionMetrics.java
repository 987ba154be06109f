package dev.stasis.operator.metric;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.Reason;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;

/** Publishes the numbers of damaged checkpoints, and of restores without a matching node. */
@Singleton
class ConditionMetrics {

  void bind(
      @Observes StartupEvent start,
      Informers informers,
      Leadership leadership,
      MeterRegistry registry) {
    damaged(registry).bind(leadership, informers, GpuCheckpoint.class, informers::checkpoints);
    waiting(registry).bind(leadership, informers, GpuRestore.class, informers::restores);
  }

  static NamespaceGauge<GpuCheckpoint> damaged(MeterRegistry registry) {
    return new NamespaceGauge<>(
        "stasis_damaged_checkpoints",
        registry,
        checkpoint -> Conditions.of(checkpoint.getStatus()).isDamaged());
  }

  static NamespaceGauge<GpuRestore> waiting(MeterRegistry registry) {
    return new NamespaceGauge<>("stasis_restores_without_node", registry, ConditionMetrics::waits);
  }

  private static boolean waits(GpuRestore restore) {
    return !CurrentPhase.of(restore).isFinal()
        && Conditions.of(restore.getStatus()).list().stream()
            .anyMatch(condition -> Reason.NO_NODE_FITS.is(condition.reason()));
  }
}
