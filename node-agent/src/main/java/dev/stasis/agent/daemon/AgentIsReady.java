package dev.stasis.agent.daemon;

import jakarta.inject.Singleton;
import java.util.Optional;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/**
 * Whether the agent can be given work: its GpuNode stands in the cluster. What the node cannot do
 * is said there, and makes no agent unready: a rollout must not wait for a driver.
 */
@Readiness
@Singleton
final class AgentIsReady implements HealthCheck {

  private final Daemon daemon;

  AgentIsReady(Daemon daemon) {
    this.daemon = daemon;
  }

  @Override
  public HealthCheckResponse call() {
    Optional<String> trouble =
        daemon.agent().map(Agent::trouble).orElse(Optional.of("the agent is starting"));
    return HealthCheckResponse.named("agent reports")
        .status(trouble.isEmpty())
        .withData("why", trouble.orElse("GpuNode is written"))
        .build();
  }
}
