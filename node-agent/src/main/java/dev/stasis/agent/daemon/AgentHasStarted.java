package dev.stasis.agent.daemon;

import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Startup;

/** Whether the agent is assembled and working. */
@Startup
@Singleton
final class AgentHasStarted implements HealthCheck {

  private final Daemon daemon;

  AgentHasStarted(Daemon daemon) {
    this.daemon = daemon;
  }

  @Override
  public HealthCheckResponse call() {
    return HealthCheckResponse.named("agent has started").status(daemon.hasStarted()).build();
  }
}
