package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.JobDeadlines;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.status.ErrorStatus;
import dev.stasis.operator.workflow.RequestReconciler;
import dev.stasis.operator.workflow.StatusWriter;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.MaxReconciliationInterval;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Reconciles GpuCheckpoints by the steps of {@link CheckpointSteps}. */
@ControllerConfiguration(
    name = "gpucheckpoint",
    finalizerName = Api.FINALIZER,
    informer = @Informer(informerListLimit = 500),
    // An agent that becomes silent triggers no event, and a Ready object depends on it.
    maxReconciliationInterval =
        @MaxReconciliationInterval(interval = 10, timeUnit = TimeUnit.MINUTES))
// An unavailable API server is retried without a limit, at most every half minute.
@GradualRetry(
    maxAttempts = Integer.MAX_VALUE,
    initialInterval = 500,
    intervalMultiplier = 2,
    maxInterval = 30_000)
// A last protection against a loop; the agents report progress once a second.
@RateLimited(maxReconciliations = 50, within = 5)
public class CheckpointReconciler implements Reconciler<GpuCheckpoint>, Cleaner<GpuCheckpoint> {

  private final CheckpointEventSources eventSources;
  private final RequestReconciler<
          GpuCheckpoint, GpuCheckpointStatus, CheckpointContext, CheckpointPhase>
      requests;
  private final Clock clock;

  CheckpointReconciler(
      Informers informers,
      Operations operations,
      PodWrites pods,
      EventRecorder events,
      KubernetesClient client,
      Changes changes,
      Clock clock,
      StasisConfig config,
      CheckpointEventSources eventSources,
      RestorableCondition restorable,
      Departure departure) {
    Template template = new Template(client.getKubernetesSerialization());
    CheckpointSteps steps =
        new CheckpointSteps(
            operations,
            pods,
            departure,
            template,
            checkpoint -> client.resource(checkpoint).delete());
    CheckpointObserver observer =
        new CheckpointObserver(
            informers,
            pods,
            events,
            template,
            restorable,
            new JobDeadlines(client, clock)::of,
            clock,
            config);
    CheckpointWorkflow ofPod = steps.ofPod();
    CheckpointWorkflow ofImport = steps.ofImport();
    this.requests =
        new RequestReconciler<>(
            new StatusWriter<>(GpuCheckpointStatus::new, changes, config.progressEvery(), clock),
            observer::observe,
            checkpoint -> checkpoint.getSpec().getImportFrom() == null ? ofPod : ofImport,
            config,
            new SkewGuard(events));
    this.eventSources = eventSources;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, GpuCheckpoint>> prepareEventSources(
      EventSourceContext<GpuCheckpoint> context) {
    return eventSources.sources(context.getPrimaryCache());
  }

  @Override
  public UpdateControl<GpuCheckpoint> reconcile(
      GpuCheckpoint checkpoint, Context<GpuCheckpoint> context) {
    return requests.reconcile(checkpoint, context);
  }

  @Override
  public ErrorStatusUpdateControl<GpuCheckpoint> updateErrorStatus(
      GpuCheckpoint failed, Context<GpuCheckpoint> context, Exception error) {
    return ErrorStatus.of(failed, context, clock, error);
  }

  @Override
  public DeleteControl cleanup(GpuCheckpoint checkpoint, Context<GpuCheckpoint> context) {
    return requests.cleanup(checkpoint, context);
  }
}
