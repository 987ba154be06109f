package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.testing.TestOperator.Parts;
import dev.stasis.operator.workflow.FlowPage;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;

/** What the container puts together in the product. */
public final class CheckpointParts {

  private CheckpointParts() {}

  /** Returns the steps of a save, a suspension and an import, for the documentation. */
  public static String flow() {
    CheckpointSteps steps = new World(new GpuCheckpoint()).steps();
    return String.join(
        "\n",
        FlowPage.section("GpuCheckpoint", steps.saving()),
        FlowPage.section("GpuCheckpoint, suspension", steps.suspension()),
        FlowPage.section("GpuCheckpoint, import", steps.importing()));
  }

  public static Reconciler<GpuCheckpoint> reconciler(Parts parts) {
    return reconciler(parts, "no-such-webhooks");
  }

  /** With the name of the configuration of the operator's webhooks. */
  static Reconciler<GpuCheckpoint> reconciler(Parts parts, String webhooks) {
    RestorableCondition restorable = new RestorableCondition();
    return new CheckpointReconciler(
        parts.informers(),
        parts.operations(),
        parts.pods(),
        parts.events(),
        parts.client(),
        parts.changes(),
        parts.clock(),
        parts.config(),
        new CheckpointEventSources(
            parts.informers(), parts.operationSource(), parts.config(), parts.clock(), restorable),
        restorable,
        new Departure(parts.client(), TestWebhooks.config(webhooks)));
  }
}
