package dev.stasis.operator.admission;

import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/** A replica without a key is not asked: the Service leaves it out. */
@Readiness
@Singleton
class WebhooksAnswer implements HealthCheck {

  private final Admission admission;

  WebhooksAnswer(Admission admission) {
    this.admission = admission;
  }

  @Override
  public HealthCheckResponse call() {
    return HealthCheckResponse.named("webhooks").status(admission.isReady()).build();
  }
}
