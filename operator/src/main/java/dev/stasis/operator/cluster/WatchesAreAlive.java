package dev.stasis.operator.cluster;

import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;

/** An operator whose watch has ended for good sees nothing: it is better started anew. */
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
