package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.testing.TestOperator.Parts;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;

/** What the container puts together in the product. */
public final class CheckpointParts {

  private CheckpointParts() {}

  public static Reconciler<GpuCheckpoint> reconciler(Parts parts) {
    return reconciler(parts, "no-such-webhooks");
  }

  /** With the name of the configuration of the operator's webhooks. */
  static Reconciler<GpuCheckpoint> reconciler(Parts parts, String webhooks) {
    return new CheckpointReconciler(
        parts.informers(),
        parts.operations(),
        parts.pods(),
        parts.events(),
        parts.client(),
        parts.changes(),
        parts.clock(),
        parts.config(),
        new WakeUps(parts.informers(), parts.operationSource(), parts.clock()),
        new Departure(parts.client(), TestWebhooks.config(webhooks)));
  }
}
