package dev.stasis.agent.daemon;

import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;

/**
 * Whether the agent makes progress. An agent that waits for the API server or a driver is alive.
 */
@Liveness
@Singleton
final class AgentIsAlive implements HealthCheck {

  private final Daemon daemon;

  AgentIsAlive(Daemon daemon) {
    this.daemon = daemon;
  }

  @Override
  public HealthCheckResponse call() {
    return HealthCheckResponse.named("agent moves")
        .status(daemon.agent().map(Agent::isAlive).orElse(true))
        .build();
  }
}
