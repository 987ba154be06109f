package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.cluster.WishSource;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.operation.OperationSource;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.owner.Waiting;
import dev.stasis.operator.pod.FormerPods;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.ErrorStatus;
import dev.stasis.operator.workflow.RequestReconciler;
import dev.stasis.operator.workflow.StatusWriter;
import io.fabric8.kubernetes.api.model.Pod;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Reconciles GpuRestores by the steps of {@link RestoreWorkflow}. */
@ControllerConfiguration(
    name = "gpurestore",
    finalizerName = Api.FINALIZER,
    informer = @Informer(informerListLimit = 500))
// An unavailable API server is retried without a limit, at most once a minute.
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 60000)
// A last protection against a loop; a restore needs about ten reconciliations.
@RateLimited(maxReconciliations = 50, within = 5)
public class RestoreReconciler implements Reconciler<GpuRestore>, Cleaner<GpuRestore> {

  private final Informers informers;
  private final OperationSource operationSource;
  private final RequestReconciler<GpuRestore, GpuRestoreStatus, RestoreContext, RestorePhase>
      requests;
  private final Clock clock;
  private final PlaceChanges places;

  RestoreReconciler(
      Informers informers,
      OperationSource operationSource,
      RestoreObserver observer,
      RestoreWorkflow workflow,
      Changes changes,
      StasisConfig config,
      SkewGuard skew,
      Clock clock) {
    this.informers = informers;
    this.operationSource = operationSource;
    this.requests =
        new RequestReconciler<>(
            new StatusWriter<>(GpuRestoreStatus::new, changes, config.progressEvery(), clock),
            observer::observe,
            restore -> workflow,
            config,
            skew);
    this.clock = clock;
    this.places = new PlaceChanges(informers, clock);
  }

  @Override
  public List<EventSource<?, GpuRestore>> prepareEventSources(
      EventSourceContext<GpuRestore> context) {
    List<EventSource<?, GpuRestore>> sources =
        new ArrayList<>(places.sources(informers, context.getPrimaryCache()));
    sources.add(operationSource.of(RequesterKind.RESTORE));
    sources.add(new WishSource<>(GpuRestore.class, informers));
    sources.add(new ClusterSource<Pod, GpuRestore>(Pod.class, informers, this::restoresOfPod));
    sources.add(
        new ClusterSource<GpuCheckpoint, GpuRestore>(
            GpuCheckpoint.class, informers, this::restoresOf));
    return sources;
  }

  @Override
  public UpdateControl<GpuRestore> reconcile(GpuRestore restore, Context<GpuRestore> context) {
    return requests.reconcile(restore, context);
  }

  @Override
  public ErrorStatusUpdateControl<GpuRestore> updateErrorStatus(
      GpuRestore failed, Context<GpuRestore> context, Exception error) {
    return ErrorStatus.of(failed, context, clock, error);
  }

  @Override
  public DeleteControl cleanup(GpuRestore restore, Context<GpuRestore> context) {
    return requests.cleanup(restore, context);
  }

  /**
   * By the annotation of a target, or by the checkpoint of one that waits to be claimed, possibly
   * until this pod is gone.
   */
  private List<ResourceID> restoresOfPod(Changed<Pod> change) {
    Pod pod = change.subject();
    String namespace = pod.getMetadata().getNamespace();
    Optional<String> waitsFor = Waiting.checkpoint(pod);
    if (waitsFor.isPresent()) {
      return unfinished(namespace, waitsFor.get());
    }
    Stream<ResourceID> own = TargetPods.requester(pod).stream();
    return change.after().isEmpty() && hasBeenSaved(pod)
        ? Stream.concat(own, ofWaitingTargets(namespace)).distinct().toList()
        : own.toList();
  }

  /** Returns whether a restore may wait for its end. */
  private boolean hasBeenSaved(Pod pod) {
    return !FormerPods.before(pod.getMetadata()).uids().isEmpty()
        || !informers
            .checkpointsOf(pod.getMetadata().getNamespace(), pod.getMetadata().getName())
            .isEmpty();
  }

  private Stream<ResourceID> ofWaitingTargets(String namespace) {
    // They have no node. The namespace may have thousands of pods that are deleted together.
    return informers.podsWithoutNode().stream()
        .filter(target -> target.getMetadata().getNamespace().equals(namespace))
        .flatMap(target -> Waiting.checkpoint(target).stream())
        .distinct()
        .flatMap(checkpoint -> unfinished(namespace, checkpoint).stream());
  }

  private List<ResourceID> restoresOf(Changed<GpuCheckpoint> change) {
    String namespace = change.subject().getMetadata().getNamespace();
    String checkpoint = change.subject().getMetadata().getName();
    // A finished one may be kept as long as its checkpoint.
    return change.after().isEmpty()
        ? informers.restoresOf(namespace, checkpoint).stream()
            .map(ResourceID::fromResource)
            .toList()
        : unfinished(namespace, checkpoint);
  }

  private List<ResourceID> unfinished(String namespace, String checkpoint) {
    return informers.restoresOf(namespace, checkpoint).stream()
        .filter(restore -> !CurrentPhase.of(restore).isFinal())
        .map(ResourceID::fromResource)
        .toList();
  }
}
