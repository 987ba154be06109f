package dev.stasis.operator.metric;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Publishes a replica's own state: its version, and whether it is the leader. */
@Singleton
class ReplicaMetrics {

  private final Leadership leadership;
  private final MeterRegistry registry;
  private final String version;

  ReplicaMetrics(
      Leadership leadership,
      MeterRegistry registry,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    this.leadership = leadership;
    this.registry = registry;
    this.version = version;
  }

  void bind(@Observes StartupEvent start) {
    Gauge.builder("stasis_build_info", () -> 1)
        .tag("component", "operator")
        .tag("version", version)
        .register(registry);
    Gauge.builder("stasis_leader", leadership, it -> it.leads() ? 1 : 0).register(registry);
  }
}
