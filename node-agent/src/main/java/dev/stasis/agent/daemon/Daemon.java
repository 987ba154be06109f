package dev.stasis.agent.daemon;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.time.Clock;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Begins and ends the agent with Quarkus. */
@Singleton
final class Daemon {

  private final AgentConfig config;
  private final KubernetesClient client;
  private final MeterRegistry metrics;
  private @Nullable Agent agent;

  Daemon(AgentConfig config, KubernetesClient client, MeterRegistry metrics) {
    this.config = config;
    this.client = client;
    this.metrics = metrics;
  }

  void begin(@Observes StartupEvent event) throws IOException, InterruptedException {
    Agent begun = new Agent(config, client, metrics, Clock.systemUTC());
    agent = begun;
    begun.start();
  }

  void end(@Observes ShutdownEvent event) {
    agent().ifPresent(Agent::close);
  }

  /** The agent, once it was begun. */
  Optional<Agent> agent() {
    return Optional.ofNullable(agent);
  }
}
