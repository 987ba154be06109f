package dev.stasis.operator.cluster;

import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;

/** Liveness: an operator with a watch that has ended sees no changes and must be restarted. */
@Liveness
@Singleton
class WatchesAreAlive implements HealthCheck {

  private final Informers informers;

  WatchesAreAlive(Informers informers) {
    this.informers = informers;
  }

  @Override
  public HealthCheckResponse call() {
    var ended = informers.ended();
    return HealthCheckResponse.named("watches")
        .status(ended.isEmpty() || !informers.hasStarted())
        .withData("ended", String.join(", ", ended))
        .build();
  }
}
