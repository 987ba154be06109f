package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.holder.Targets;
import io.fabric8.kubernetes.api.model.Namespace;
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
import java.util.stream.Stream;

/**
 * Configures the API server to call the webhook before a controller with an unfinished hand-over
 * creates a pod. Deletes targets that are no longer needed, so that their controllers create
 * ordinary pods. It reconciles namespaces, which hardly ever change, and is triggered by the shared
 * watches: a watch of GpuCheckpoints of its own would receive each of their changes once more.
 */
@ControllerConfiguration(
    name = "handover",
    generationAwareEventProcessing = false,
    informer =
        @Informer(
            itemStore = NamespaceNames.class,
            informerListLimit = 500,
            onUpdateFilter = SharedWatchOnly.class))
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 30000)
// A last protection against a loop; all hand-overs of a namespace share it.
@RateLimited(maxReconciliations = 20, within = 1)
public class HandoverReconciler implements Reconciler<Namespace> {

  static final String PATH = "handover";
  static final String WEBHOOK = PATH + ".stasis.dev";

  /** Until the certificate exists, moments after the start. */
  static final Duration SOON = Duration.ofSeconds(2);

  private final Informers informers;
  private final GatedOwners held;
  private final Targets targets;

  /** Checkpoints that changed, or one of their restores. */
  private final PendingNames changed = new PendingNames();

  /** Checkpoints with a waiting pod that may be surplus. */
  private final PendingNames waitedFor = new PendingNames();

  HandoverReconciler(Informers informers, GatedOwners held, Targets targets) {
    this.informers = informers;
    this.held = held;
    this.targets = targets;
  }

  @Override
  public List<EventSource<?, Namespace>> prepareEventSources(
      EventSourceContext<Namespace> context) {
    return List.of(
        new ClusterSource<GpuCheckpoint, Namespace>(
            "handover", GpuCheckpoint.class, informers, this::ofCheckpoint),
        new ClusterSource<Pod, Namespace>(
            "handover", Pod.class, informers, change -> ofPod(change.subject())),
        new ClusterSource<GpuRestore, Namespace>(
            "handover",
            GpuRestore.class,
            informers,
            change ->
                changed(
                    change.subject().getMetadata().getNamespace(),
                    change.subject().getSpec().checkpointName())));
  }

  @Override
  public UpdateControl<Namespace> reconcile(Namespace namespace, Context<Namespace> context) {
    UpdateControl<Namespace> control = UpdateControl.noUpdate();
    String name = namespace.getMetadata().getName();
    Set<String> looked = changed.take(name);
    Set<String> waits = waitedFor.take(name);
    try {
      if (!held.look(name, looked) && waits.isEmpty()) {
        return control;
      }
      boolean written = held.write();
      tidy(name, held.handovers());
      return written ? control : control.rescheduleAfter(SOON);
    } catch (RuntimeException e) {
      // The retry looks at them again.
      changed.addAll(name, looked);
      waitedFor.addAll(name, waits);
      throw e;
    }
  }

  private List<ResourceID> ofCheckpoint(Changed<GpuCheckpoint> change) {
    String namespace = change.subject().getMetadata().getNamespace();
    String name = change.subject().getMetadata().getName();
    return concerns(change, informers.restoresOf(namespace, name))
        ? changed(namespace, name)
        : List.of();
  }

  /** An operator that does not lead reconciles nothing, and must not remember every change. */
  private List<ResourceID> changed(String namespace, String name) {
    if (held.hasBegun()) {
      changed.add(namespace, name);
    }
    return List.of(new ResourceID(namespace));
  }

  private List<ResourceID> ofPod(Pod pod) {
    String namespace = pod.getMetadata().getNamespace();
    Optional<String> checkpoint = Waiting.checkpoint(pod);
    checkpoint.ifPresent(name -> waitedFor.add(namespace, name));
    return checkpoint.stream().map(name -> new ResourceID(namespace)).toList();
  }

  /**
   * Returns whether a checkpoint was deleted, or has a possible hand-over before or after a change.
   *
   * @param restores those of the checkpoint
   */
  static boolean concerns(Changed<GpuCheckpoint> change, Collection<GpuRestore> restores) {
    return change.after().isEmpty()
        || Stream.of(change.before(), change.after())
            .flatMap(Optional::stream)
            .anyMatch(it -> Handover.isPossible(it, restores));
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
