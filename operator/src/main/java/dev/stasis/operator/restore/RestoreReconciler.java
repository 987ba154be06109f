package dev.stasis.operator.restore;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.restore.GpuRestoreStatus;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.cluster.WishSource;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.operation.OperationSource;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.owner.Waiting;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.Change;
import dev.stasis.operator.status.Changes;
import io.fabric8.kubernetes.api.model.Pod;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Brings GpuRestores to their end: observes, decides, acts, reports. */
@ControllerConfiguration(
    name = "gpurestore",
    finalizerName = Api.FINALIZER,
    informer = @Informer(informerListLimit = 500))
// An API server that is away comes back: it is asked again for as long as it takes, at most once a
// minute.
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 60000)
// The last resort against a loop; a restore needs some ten reconciliations in all.
@RateLimited(maxReconciliations = 50, within = 5)
public class RestoreReconciler implements Reconciler<GpuRestore>, Cleaner<GpuRestore> {

  /** What was written down is to be acted upon; long enough for the write to be in the cache. */
  private static final Duration AT_ONCE = Duration.ofMillis(50);

  private final Informers informers;
  private final OperationSource operationSource;
  private final Operations operations;
  private final Observer observer;
  private final Deeds deeds;
  private final AfterProof afterProof;
  private final Changes changes;
  private final StasisConfig config;
  private final Clock clock;
  private final PlaceChanges places;
  private final Decider decider = new Decider();

  RestoreReconciler(
      Informers informers,
      OperationSource operationSource,
      Operations operations,
      Observer observer,
      Deeds deeds,
      AfterProof afterProof,
      Changes changes,
      StasisConfig config,
      Clock clock) {
    this.informers = informers;
    this.operationSource = operationSource;
    this.operations = operations;
    this.observer = observer;
    this.deeds = deeds;
    this.afterProof = afterProof;
    this.changes = changes;
    this.config = config;
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
    boolean first = restore.getStatus() == null;
    if (first) {
      restore.setStatus(new GpuRestoreStatus());
    }
    JsonNode before = changes.snapshot(restore.getStatus());
    View view = observer.look(restore);
    Optional<Duration> again;
    try (LogContext fields = LogContext.of(restore).operation(restore.getStatus().getOperation())) {
      Next next = decider.next(view);
      if (next instanceof Next.Rest) {
        forget(restore);
        again =
            afterProof.look(view, new Ledger(restore, clock))
                ? Optional.of(config.lookAgainEvery())
                : Optional.empty();
      } else {
        again = Optional.of(perform(next, view));
      }
    }
    boolean changed = first || changes.between(before, restore.getStatus()) != Change.NONE;
    UpdateControl<GpuRestore> done =
        changed ? UpdateControl.patchStatus(restore) : UpdateControl.noUpdate();
    again.ifPresent(done::rescheduleAfter);
    return done;
  }

  /** Returns when the restore is observed again, unless something wakes it before. */
  private Duration perform(Next next, View view) {
    boolean waits = deeds.perform(next, view);
    if (next instanceof Next.Wait) {
      return config.lookAgainEvery();
    }
    if (waits) {
      // A quota or a controller reports nothing: each look costs requests.
      return new Backoff(config.lookAgainEvery(), Backoff.PATIENT)
          .after(view.entered(), view.now());
    }
    // What was asked of an agent or of the API server wakes this up when it is done.
    return next instanceof Next.Cancel || next instanceof Next.Remove
        ? config.progressEvery()
        : AT_ONCE;
  }

  /** At work it is rolled back first; one that is over goes, and its pod stays. */
  @Override
  public DeleteControl cleanup(GpuRestore restore, Context<GpuRestore> context) {
    if (restore.getStatus() == null) {
      restore.setStatus(new GpuRestoreStatus());
    }
    try (LogContext fields = LogContext.of(restore).operation(restore.getStatus().getOperation())) {
      View view = observer.look(restore);
      Next next = decider.next(view);
      if (next instanceof Next.Rest || next instanceof Next.Cancelled) {
        forget(restore);
        return DeleteControl.defaultDelete();
      }
      return DeleteControl.noFinalizerRemoval().rescheduleAfter(perform(next, view).toMillis());
    }
  }

  /** What its operations said stands in the status by now. */
  private void forget(GpuRestore restore) {
    for (OperationView operation : observer.operations(restore)) {
      if (operation.isFinal()) {
        operations.release(operation.operation());
      }
    }
  }

  /** By the annotation of a target, or by the checkpoint for which one waits to be claimed. */
  private List<ResourceID> restoresOfPod(Changed<Pod> change) {
    Pod pod = change.subject();
    String namespace = pod.getMetadata().getNamespace();
    Optional<String> waitsFor = Waiting.checkpoint(pod);
    if (waitsFor.isPresent()) {
      return unfinished(namespace, waitsFor.get());
    }
    Map<String, String> annotations = pod.getMetadata().getAnnotations();
    String from = annotations == null ? null : annotations.get(Api.RESTORED_FROM_ANNOTATION);
    return from == null || !from.startsWith(namespace + "/")
        ? List.of()
        : List.of(new ResourceID(from.substring(namespace.length() + 1), namespace));
  }

  private List<ResourceID> restoresOf(Changed<GpuCheckpoint> change) {
    return unfinished(
        change.subject().getMetadata().getNamespace(), change.subject().getMetadata().getName());
  }

  private List<ResourceID> unfinished(String namespace, String checkpoint) {
    return informers.restoresOf(namespace, checkpoint).stream()
        .filter(
            restore ->
                restore.getStatus() == null
                    || restore.getStatus().getPhase() == null
                    || !restore.getStatus().getPhase().isFinal())
        .map(restore -> new ResourceID(restore.getMetadata().getName(), namespace))
        .toList();
  }
}
