package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.util.List;

/**
 * Configures the API server to call the webhook before a controller creates a pod while one of its
 * pods moves.
 */
@ControllerConfiguration(
    name = "handover-move",
    generationAwareEventProcessing = false,
    informer = @Informer(itemStore = MigrationNames.class, informerListLimit = 500))
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 30000)
// A last protection against a loop.
@RateLimited(maxReconciliations = 50, within = 5)
public class MoveReconciler implements Reconciler<GpuMigration> {

  private final Informers informers;
  private final GatedOwners held;

  MoveReconciler(Informers informers, GatedOwners held) {
    this.informers = informers;
    this.held = held;
  }

  /** The decision reads the shared watch, which may lag behind that of this reconciler. */
  @Override
  public List<EventSource<?, GpuMigration>> prepareEventSources(
      EventSourceContext<GpuMigration> context) {
    return List.of(
        new ClusterSource<GpuMigration, GpuMigration>(
            "move",
            GpuMigration.class,
            informers,
            change -> List.of(ResourceID.fromResource(change.subject()))));
  }

  @Override
  public UpdateControl<GpuMigration> reconcile(
      GpuMigration migration, Context<GpuMigration> context) {
    UpdateControl<GpuMigration> control = UpdateControl.noUpdate();
    return held.write() ? control : control.rescheduleAfter(HandoverReconciler.SOON);
  }
}
