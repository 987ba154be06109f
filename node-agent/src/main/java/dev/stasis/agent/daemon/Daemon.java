package dev.stasis.agent.daemon;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.util.Optional;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;

/** Starts and stops the agent with Quarkus. */
@Singleton
final class Daemon {

  private static final System.Logger LOG = System.getLogger(Daemon.class.getName());

  /** The process's exit code if the agent cannot be assembled. */
  private static final int UNUSABLE = 1;

  private final AgentConfig config;
  private final KubernetesClient client;
  private final MeterRegistry metrics;
  private final Thread start = new Thread(this::putTogether, "agent-start");
  private volatile @Nullable Agent agent;

  Daemon(AgentConfig config, KubernetesClient client, MeterRegistry metrics) {
    this.config = config;
    this.client = client;
    this.metrics = metrics;
  }

  /** In parallel with Quarkus opening its port: neither waits for the other. */
  void begin(@Observes StartupEvent event) {
    String version =
        ConfigProvider.getConfig().getValue("quarkus.application.version", String.class);
    Gauge.builder("stasis_build_info", () -> 1)
        .tag("component", "agent")
        .tag("version", version)
        .register(metrics);
    start.start();
  }

  private void putTogether() {
    try {
      Agent begun = new Agent(config, Optional.empty(), client, metrics, Clock.systemUTC());
      agent = begun;
      begun.start();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException | RuntimeException | LinkageError e) {
      LOG.log(Level.ERROR, "the agent cannot start: " + e, e);
      Quarkus.asyncExit(UNUSABLE);
    }
  }

  void end(@Observes ShutdownEvent event) throws InterruptedException {
    // Everything that it waits for has its own deadline.
    start.join();
    agent().ifPresent(Agent::close);
  }

  /** Returns whether the agent is assembled and working. */
  boolean hasStarted() {
    return agent != null && !start.isAlive();
  }

  /** The agent, once it was started. */
  Optional<Agent> agent() {
    return Optional.ofNullable(agent);
  }
}
