package dev.stasis.operator.admission;

import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/** Readiness: the Service excludes a replica without a key. */
@Readiness
@Singleton
class WebhooksReady implements HealthCheck {

  private final Admission admission;

  WebhooksReady(Admission admission) {
    this.admission = admission;
  }

  @Override
  public HealthCheckResponse call() {
    return HealthCheckResponse.named("webhooks").status(admission.isReady()).build();
  }
}
