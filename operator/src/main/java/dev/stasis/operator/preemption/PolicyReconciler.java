package dev.stasis.operator.preemption;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuPreemptionPolicy;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.policy.GpuPreemptionPolicyStatus;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.cluster.WishSource;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.status.Change;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Report;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Makes room for pods that wait, and sees to it that whoever yielded comes back. */
@ControllerConfiguration(name = "gpupreemptionpolicy")
// An API server that is away comes back: it is asked again for as long as it takes.
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 60000)
public class PolicyReconciler implements Reconciler<GpuPreemptionPolicy> {

  private final Informers informers;
  private final GpuPods gpus;
  private final Turn turn;
  private final Changes changes;
  private final StasisConfig config;
  private final Clock clock;

  PolicyReconciler(
      Informers informers,
      KubernetesClient client,
      Events events,
      StasisMetrics metrics,
      Changes changes,
      StasisConfig config,
      Clock clock) {
    this.informers = informers;
    this.gpus = new GpuPods(config.gpuResources());
    Deeds deeds = new ClusterDeeds(client);
    Stories stories = new Stories(events);
    Aftermath aftermath =
        new Aftermath(
            informers, gpus, deeds, stories, metrics, client.getKubernetesSerialization());
    this.turn = new Turn(informers, gpus, aftermath, deeds, stories);
    this.changes = changes;
    this.config = config;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, GpuPreemptionPolicy>> prepareEventSources(
      EventSourceContext<GpuPreemptionPolicy> context) {
    return List.of(
        new WishSource<>(GpuPreemptionPolicy.class, informers),
        new ClusterSource<Pod, GpuPreemptionPolicy>(Pod.class, informers, this::ofPod),
        new ClusterSource<GpuCheckpoint, GpuPreemptionPolicy>(
            GpuCheckpoint.class, informers, PolicyReconciler::ofMade),
        new ClusterSource<GpuRestore, GpuPreemptionPolicy>(
            GpuRestore.class, informers, PolicyReconciler::ofMade),
        new ClusterSource<PriorityClass, GpuPreemptionPolicy>(
            PriorityClass.class, informers, change -> all()),
        new ClusterSource<GpuPreemptionPolicy, GpuPreemptionPolicy>(
            GpuPreemptionPolicy.class, informers, this::ofOther));
  }

  @Override
  public UpdateControl<GpuPreemptionPolicy> reconcile(
      GpuPreemptionPolicy policy, Context<GpuPreemptionPolicy> context) {
    boolean first = policy.getStatus() == null;
    if (first) {
      policy.setStatus(new GpuPreemptionPolicyStatus());
    }
    JsonNode before = changes.snapshot(policy.getStatus());
    Instant now = clock.instant();
    try (LogContext fields = LogContext.of(policy)) {
      Report report =
          new Report(
              policy.getStatus(), ConditionType.READY, policy.getMetadata().getGeneration(), clock);
      turn.take(policy, report, now);
      report.writeTo(policy.getStatus());
    }
    boolean changed = first || changes.between(before, policy.getStatus()) != Change.NONE;
    UpdateControl<GpuPreemptionPolicy> done =
        changed ? UpdateControl.patchStatus(policy) : UpdateControl.noUpdate();
    // That a pod has run for long enough, or that an hour is over, tells nobody.
    return done.rescheduleAfter(config.lookAgainEvery());
  }

  /** Of a pod with GPUs: that it waits, has its place, or is gone. */
  private Collection<ResourceID> ofPod(Changed<Pod> change) {
    if (!gpus.has(change.subject())) {
      return List.of();
    }
    boolean concerns =
        change.cameOrWent()
            || !Objects.equals(
                standing(change.before().orElseThrow()), standing(change.after().orElseThrow()));
    return concerns ? all() : List.of();
  }

  private static Object standing(Pod pod) {
    PodState state = new PodState(pod);
    return List.of(
        state.unschedulable().isPresent(),
        state.isOver(),
        Objects.requireNonNullElse(pod.getSpec().getNodeName(), ""),
        Objects.requireNonNullElse(pod.getMetadata().getDeletionTimestamp(), ""));
  }

  private static <R extends HasMetadata> Collection<ResourceID> ofMade(Changed<R> change) {
    Map<String, String> labels = change.subject().getMetadata().getLabels();
    String policy = labels == null ? null : labels.get(Api.POLICY_LABEL);
    return policy == null ? List.of() : List.of(new ResourceID(policy));
  }

  /** One policy more or less, or with another spec, concerns the others. */
  private Collection<ResourceID> ofOther(Changed<GpuPreemptionPolicy> change) {
    boolean concerns =
        change.cameOrWent()
            || !Objects.equals(
                change.before().orElseThrow().getMetadata().getGeneration(),
                change.after().orElseThrow().getMetadata().getGeneration());
    return concerns ? all() : List.of();
  }

  private Collection<ResourceID> all() {
    return informers.policies().stream()
        .map(policy -> new ResourceID(policy.getMetadata().getName()))
        .toList();
  }
}
