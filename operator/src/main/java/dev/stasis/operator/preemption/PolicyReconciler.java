package dev.stasis.operator.preemption;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.policy.GpuPreemptionPolicyStatus;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.cluster.WishSource;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.request.ClusterRequestWrites;
import dev.stasis.operator.request.RequestWrites;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.status.Change;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.ErrorStatus;
import dev.stasis.operator.status.Report;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/** Reconciles GpuPreemptionPolicies. */
@ControllerConfiguration(name = "gpupreemptionpolicy")
// Retried for as long as the API server is unavailable.
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 60000)
// A reconciliation reads all pods with GPUs, and each of their changes triggers one.
@RateLimited(maxReconciliations = 2, within = 1)
public class PolicyReconciler implements Reconciler<GpuPreemptionPolicy> {

  /** The refused victim is skipped at once. */
  private static final Duration SOON = Duration.ofMillis(50);

  private final Informers informers;
  private final GpuPods gpus;
  private final PreemptionWorkflow workflow;
  private final Changes changes;
  private final SkewGuard skew;
  private final StasisConfig config;
  private final Clock clock;

  PolicyReconciler(
      Informers informers,
      KubernetesClient client,
      EventRecorder events,
      StasisMetrics metrics,
      Changes changes,
      StasisConfig config,
      Clock clock) {
    this.informers = informers;
    this.gpus = new GpuPods(config.gpuResources());
    RequestWrites writes = new ClusterRequestWrites(client, clock);
    PreemptionFollowUp followUp =
        new PreemptionFollowUp(
            informers, gpus, writes, events, metrics, client.getKubernetesSerialization());
    this.workflow = new PreemptionWorkflow(informers, gpus, followUp, writes, events);
    this.changes = changes;
    this.skew = new SkewGuard(events);
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
            GpuCheckpoint.class, informers, PolicyReconciler::ofRequest),
        new ClusterSource<GpuRestore, GpuPreemptionPolicy>(
            GpuRestore.class, informers, PolicyReconciler::ofRequest),
        new ClusterSource<PriorityClass, GpuPreemptionPolicy>(
            PriorityClass.class, informers, change -> all()),
        new ClusterSource<GpuPreemptionPolicy, GpuPreemptionPolicy>(
            GpuPreemptionPolicy.class, informers, this::ofOther));
  }

  @Override
  public UpdateControl<GpuPreemptionPolicy> reconcile(
      GpuPreemptionPolicy policy, Context<GpuPreemptionPolicy> context) {
    if (skew.holds(policy)) {
      return UpdateControl.noUpdate();
    }
    boolean first = policy.getStatus() == null;
    if (first) {
      policy.setStatus(new GpuPreemptionPolicyStatus());
    }
    JsonNode before = changes.snapshot(policy.getStatus());
    Instant now = clock.instant();
    boolean refused;
    try (LogContext fields = LogContext.of(policy)) {
      Report report =
          new Report(
              policy.getStatus(), ConditionType.READY, policy.getMetadata().getGeneration(), clock);
      refused = workflow.reconcile(policy, report, now);
      report.writeTo(policy.getStatus());
    }
    ErrorStatus.clear(policy.getStatus());
    boolean changed = first || changes.between(before, policy.getStatus()) != Change.NONE;
    UpdateControl<GpuPreemptionPolicy> done =
        changed ? UpdateControl.patchStatus(policy) : UpdateControl.noUpdate();
    // The end of a minimum run time or of an hour emits no event.
    return done.rescheduleAfter(refused ? SOON : config.lookAgainEvery());
  }

  @Override
  public ErrorStatusUpdateControl<GpuPreemptionPolicy> updateErrorStatus(
      GpuPreemptionPolicy failed, Context<GpuPreemptionPolicy> context, Exception error) {
    return ErrorStatus.of(failed, context, clock, error);
  }

  /** Most changes of a pod do not affect whether it waits, runs or is gone. */
  private Collection<ResourceID> ofPod(Changed<Pod> change) {
    if (!gpus.has(change.subject())) {
      return List.of();
    }
    boolean concerns =
        change.cameOrWent()
            || !Objects.equals(
                placement(change.before().orElseThrow()), placement(change.after().orElseThrow()));
    return concerns ? all() : List.of();
  }

  private static Object placement(Pod pod) {
    PodState state = new PodState(pod);
    return List.of(
        state.isUnschedulable(),
        state.isOver(),
        Objects.requireNonNullElse(pod.getSpec().getNodeName(), ""),
        Objects.requireNonNullElse(pod.getMetadata().getDeletionTimestamp(), ""));
  }

  private static <R extends HasMetadata> Collection<ResourceID> ofRequest(Changed<R> change) {
    return Marks.label(change.subject(), Api.POLICY_LABEL).map(ResourceID::new).stream().toList();
  }

  /** A new, changed or deleted policy affects the others. */
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
