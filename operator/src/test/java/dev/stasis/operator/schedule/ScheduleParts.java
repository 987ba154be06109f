package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.testing.TestOperator.Parts;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/** What the container puts together in the product. */
public final class ScheduleParts {

  private ScheduleParts() {}

  public static Reconciler<GpuCheckpointSchedule> reconciler(Parts parts) {
    return new ScheduleReconciler(
        parts.informers(),
        parts.client(),
        parts.events(),
        parts.changes(),
        new ScheduleMetrics(new SimpleMeterRegistry()),
        parts.config(),
        new Departure(parts.client(), TestWebhooks.config("no-such-webhooks")),
        parts.clock());
  }
}
