package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.status.ErrorStatus;
import dev.stasis.operator.workflow.RequestReconciler;
import dev.stasis.operator.workflow.StatusWriter;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.util.List;

/**
 * Reconciles GpuMigrations by the steps of {@link TargetFirstMigration} or {@link
 * SourceFirstMigration}.
 */
@ControllerConfiguration(
    name = "gpumigration",
    finalizerName = Api.FINALIZER,
    informer = @Informer(informerListLimit = 500))
// An unavailable API server is retried without a limit. A workload may be frozen meanwhile, so at
// least every ten seconds.
@GradualRetry(maxAttempts = -1, initialInterval = 500, intervalMultiplier = 2, maxInterval = 10000)
// A last protection against a loop; a migration needs about thirty reconciliations.
@RateLimited(maxReconciliations = 50, within = 5)
public class MigrationReconciler implements Reconciler<GpuMigration>, Cleaner<GpuMigration> {

  private final WakeUps wakeUps;
  private final RequestReconciler<
          GpuMigration, GpuMigrationStatus, MigrationContext, MigrationPhase>
      requests;
  private final Clock clock;

  MigrationReconciler(
      MigrationObserver observer,
      TargetFirstMigration targetFirst,
      SourceFirstMigration sourceFirst,
      WakeUps wakeUps,
      Changes changes,
      StasisConfig config,
      SkewGuard skew,
      Clock clock) {
    this.requests =
        new RequestReconciler<>(
            new StatusWriter<>(GpuMigrationStatus::new, changes, config.progressEvery(), clock),
            observer::observe,
            migration ->
                migration.getSpec().getStrategy() == MigrationStrategy.RECREATE
                    ? sourceFirst
                    : targetFirst,
            config,
            skew);
    this.wakeUps = wakeUps;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, GpuMigration>> prepareEventSources(
      EventSourceContext<GpuMigration> context) {
    return wakeUps.sources(context.getPrimaryCache());
  }

  @Override
  public UpdateControl<GpuMigration> reconcile(
      GpuMigration migration, Context<GpuMigration> context) {
    return requests.reconcile(migration, context);
  }

  @Override
  public ErrorStatusUpdateControl<GpuMigration> updateErrorStatus(
      GpuMigration failed, Context<GpuMigration> context, Exception error) {
    return ErrorStatus.of(failed, context, clock, error);
  }

  @Override
  public DeleteControl cleanup(GpuMigration migration, Context<GpuMigration> context) {
    return requests.cleanup(migration, context);
  }
}
