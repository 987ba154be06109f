package dev.stasis.agent.daemon;

import jakarta.inject.Singleton;
import java.util.Optional;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/**
 * Whether the agent can accept work: its GpuNode is published. Missing abilities of the node are
 * reported there and do not make the agent unready, because a rollout must not wait for a driver.
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
