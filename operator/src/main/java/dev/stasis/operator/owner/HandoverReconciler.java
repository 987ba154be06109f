package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.holder.Targets;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
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
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Configures the API server to call the webhook before a controller with an unfinished hand-over
 * creates a pod. Deletes targets that are no longer needed, so that their controllers create
 * ordinary pods.
 */
@ControllerConfiguration(
    name = "handover",
    generationAwareEventProcessing = false,
    informer =
        @Informer(
            itemStore = CheckpointNames.class,
            informerListLimit = 500,
            onUpdateFilter = SharedWatchOnly.class))
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 30000)
// A last protection against a loop.
@RateLimited(maxReconciliations = 50, within = 5)
public class HandoverReconciler implements Reconciler<GpuCheckpoint> {

  static final String PATH = "handover";
  static final String WEBHOOK = PATH + ".stasis.dev";

  /** Until the certificate exists, moments after the start. */
  static final Duration SOON = Duration.ofSeconds(2);

  private final Informers informers;
  private final GatedOwners held;
  private final Targets targets;

  /** Checkpoints with a waiting pod that may be surplus. */
  private final Set<ResourceID> waitedFor = ConcurrentHashMap.newKeySet();

  HandoverReconciler(Informers informers, GatedOwners held, Targets targets) {
    this.informers = informers;
    this.held = held;
    this.targets = targets;
  }

  /** The decision reads the shared watch, which may lag behind that of this reconciler. */
  @Override
  public List<EventSource<?, GpuCheckpoint>> prepareEventSources(
      EventSourceContext<GpuCheckpoint> context) {
    return List.of(
        new ClusterSource<GpuCheckpoint, GpuCheckpoint>(
            "handover", GpuCheckpoint.class, informers, this::ofCheckpoint),
        new ClusterSource<Pod, GpuCheckpoint>(
            "handover", Pod.class, informers, change -> waits(change.subject())),
        new ClusterSource<GpuRestore, GpuCheckpoint>(
            "handover",
            GpuRestore.class,
            informers,
            change ->
                List.of(
                    new ResourceID(
                        change.subject().getSpec().checkpointName(),
                        change.subject().getMetadata().getNamespace()))));
  }

  @Override
  public UpdateControl<GpuCheckpoint> reconcile(
      GpuCheckpoint checkpoint, Context<GpuCheckpoint> context) {
    UpdateControl<GpuCheckpoint> control = UpdateControl.noUpdate();
    String namespace = checkpoint.getMetadata().getNamespace();
    boolean waits = waitedFor.remove(ResourceID.fromResource(checkpoint));
    if (!held.look(namespace, checkpoint.getMetadata().getName()) && !waits) {
      return control;
    }
    boolean written = held.write();
    tidy(namespace, held.handovers());
    return written ? control : control.rescheduleAfter(SOON);
  }

  private List<ResourceID> ofCheckpoint(Changed<GpuCheckpoint> change) {
    ObjectMeta metadata = change.subject().getMetadata();
    return concerns(change, informers.restoresOf(metadata.getNamespace(), metadata.getName()))
        ? List.of(ResourceID.fromResource(change.subject()))
        : List.of();
  }

  /**
   * Returns whether a checkpoint was deleted, or has a possible hand-over before or after a change.
   * A new one without is not reconciled twice: the watch of this reconciler shows it, too.
   *
   * @param restores those of the checkpoint
   */
  static boolean concerns(Changed<GpuCheckpoint> change, Collection<GpuRestore> restores) {
    return change.after().isEmpty()
        || Stream.of(change.before(), change.after())
            .flatMap(Optional::stream)
            .anyMatch(it -> Handover.isPossible(it, restores));
  }

  private List<ResourceID> waits(Pod pod) {
    List<ResourceID> its =
        Waiting.checkpoint(pod).stream()
            .map(name -> new ResourceID(name, pod.getMetadata().getNamespace()))
            .toList();
    waitedFor.addAll(its);
    return its;
  }

  /** Returns targets that wait for nothing, and the second of two for one checkpoint. */
  private void tidy(String namespace, List<Handover> open) {
    List<Pod> waiting =
        informers.pods(namespace).stream()
            .filter(Waiting::is)
            .sorted(Comparator.comparing(pod -> pod.getMetadata().getCreationTimestamp()))
            .toList();
    for (Pod pod : waiting) {
      Map<String, String> labels = pod.getMetadata().getLabels();
      Optional<Handover> its =
          open.stream()
              .filter(it -> it.uid().equals(labels.get(Api.OPERATION_UID_LABEL)))
              .findFirst();
      boolean second =
          waiting.stream()
              .takeWhile(earlier -> earlier != pod)
              .anyMatch(
                  earlier ->
                      Objects.equals(
                          earlier.getMetadata().getLabels().get(Api.OPERATION_UID_LABEL),
                          labels.get(Api.OPERATION_UID_LABEL)));
      if (its.isEmpty() || second) {
        targets.remove(pod);
      }
    }
  }
}
