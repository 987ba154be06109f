package dev.stasis.agent.daemon;

import io.fabric8.kubernetes.client.KubernetesClient;
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
import org.jspecify.annotations.Nullable;

/** Begins and ends the agent with Quarkus. */
@Singleton
final class Daemon {

  private static final System.Logger LOG = System.getLogger(Daemon.class.getName());

  /** The process's exit code when the agent cannot be put together. */
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

  /** Beside what Quarkus still has to open: neither waits for the other. */
  void begin(@Observes StartupEvent event) {
    start.start();
  }

  private void putTogether() {
    try {
      Agent begun = new Agent(config, client, metrics, Clock.systemUTC());
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
    // All that it waits for has a deadline of its own.
    start.join();
    agent().ifPresent(Agent::close);
  }

  /** Whether the agent is put together and at work. */
  boolean hasStarted() {
    return agent != null && !start.isAlive();
  }

  /** The agent, once it was begun. */
  Optional<Agent> agent() {
    return Optional.ofNullable(agent);
  }
}
