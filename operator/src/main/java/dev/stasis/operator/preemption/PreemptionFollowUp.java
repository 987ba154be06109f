package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.request.RequestWrites;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** Follows a preempted pod until it is restored, and deletes what was created for it. */
final class PreemptionFollowUp {

  private final Cluster cluster;
  private final GpuPods gpus;
  private final RequestWrites writes;
  private final EventRecorder events;
  private final StasisMetrics metrics;
  private final KubernetesSerialization serialization;

  PreemptionFollowUp(
      Cluster cluster,
      GpuPods gpus,
      RequestWrites writes,
      EventRecorder events,
      StasisMetrics metrics,
      KubernetesSerialization serialization) {
    this.cluster = cluster;
    this.gpus = gpus;
    this.writes = writes;
    this.events = events;
    this.metrics = metrics;
    this.serialization = serialization;
  }

  void followUp(GpuPreemptionPolicy policy, PreemptedPod preempted, Instant now) {
    if (preempted.checkpoint().isEmpty()) {
      deleteRecord(preempted, now);
      return;
    }
    GpuCheckpoint checkpoint = preempted.checkpoint().get();
    if (checkpoint.getMetadata().getDeletionTimestamp() != null) {
      return;
    }
    if (preempted.isRefused()) {
      refused(policy, preempted, checkpoint, now);
    } else if (preempted.restore().isEmpty()) {
      restore(policy, preempted, checkpoint);
    }
    if (preempted.isActive()
        && !preempted.isCancelled()
        && victimStays(checkpoint)
        && !preemptorWaits(preempted)) {
      writes.cancel(checkpoint);
      events.normal(
          checkpoint,
          Reason.PREEMPTOR_GONE,
          "pod %s/%s no longer needs the GPU: the freeze is rolled back"
              .formatted(preempted.preemptor().namespace(), preempted.preemptor().name()),
          "needless");
    }
    if (preempted.isAway()) {
      nominate(preempted);
    }
    if (preempted.isEvicted() && preempted.restorePhase() == RestorePhase.SUCCEEDED) {
      restored(preempted, checkpoint, now);
    } else if (preempted.isEvicted() && preempted.restorePhase().isFinal()) {
      events.warning(
          policy,
          Reason.NOT_BROUGHT_BACK,
          "pod %s/%s was not restored: GpuRestore %s is %s; its checkpoint %s is kept"
              .formatted(
                  preempted.namespace(),
                  preempted.victim(),
                  preempted.name(),
                  preempted.restorePhase(),
                  preempted.name()),
          "lost/" + preempted.name());
    }
  }

  /** A refused GpuRestore is requested again with each look; other pods do not wait for it. */
  private void restore(
      GpuPreemptionPolicy policy, PreemptedPod preempted, GpuCheckpoint checkpoint) {
    writes
        .create(new PreemptionRequests(policy).restore(checkpoint))
        .ifPresent(
            why ->
                events.warning(
                    policy,
                    Reason.REFUSED_BY_CLUSTER,
                    "pod %s/%s cannot be restored yet, because its GpuRestore %s is refused: %s"
                        .formatted(
                            preempted.namespace(), preempted.victim(), preempted.name(), why),
                    "restore/" + preempted.name()));
  }

  /** The victim keeps running: there is nothing to restore. */
  private void refused(
      GpuPreemptionPolicy policy, PreemptedPod preempted, GpuCheckpoint checkpoint, Instant now) {
    preempted
        .restore()
        .filter(restore -> restore.getMetadata().getDeletionTimestamp() == null)
        .ifPresent(writes::delete);
    Conditions conditions = Conditions.of(preempted.status());
    if (conditions.isTrue(ConditionType.READY)) {
      events.warning(
          policy,
          Reason.NOT_BROUGHT_BACK,
          "pod %s/%s was removed although its checkpoint failed: create a GpuRestore of %s"
              .formatted(preempted.namespace(), preempted.victim(), preempted.name()),
          "late/" + preempted.name());
    } else if (!preempted.isCancelled()) {
      String why =
          conditions.find(ConditionType.READY).map(Condition::message).orElse("no reason given");
      events.warning(
          policy,
          Reason.OPERATION_FAILED,
          "pod %s/%s could not be frozen, %s: %s"
              .formatted(
                  preempted.namespace(),
                  preempted.victim(),
                  preempted.isLeftFrozen()
                      ? "but it is still frozen and its agent retries the thaw"
                      : "and it keeps running",
                  why),
          "refused/" + preempted.name());
    }
    if (!conditions.mayBeRestored()
        && preempted.created().plus(PreemptionWorkflow.BUDGET_PERIOD).isBefore(now)) {
      writes.deleteUnchanged(checkpoint);
    }
  }

  /** Reserves its former node for a restored pod: it precedes other pods of its priority there. */
  private void nominate(PreemptedPod preempted) {
    Optional<String> node = Optional.ofNullable(preempted.status().getPod()).map(ObservedPod::node);
    cluster
        .pod(preempted.namespace(), preempted.restoredAs())
        .filter(pod -> new PodState(pod).isWaitingTarget() && new PodState(pod).isUnschedulable())
        .filter(pod -> pod.getStatus().getNominatedNodeName() == null)
        .ifPresent(pod -> node.ifPresent(it -> writes.nominate(pod, it)));
  }

  private void restored(PreemptedPod preempted, GpuCheckpoint checkpoint, Instant now) {
    Instant evicted = preempted.evicted().orElse(preempted.created());
    Duration away = Duration.between(evicted, preempted.restored().orElse(now));
    cluster
        .pod(preempted.namespace(), preempted.restoredAs())
        .ifPresent(
            pod ->
                events.normal(
                    pod,
                    Reason.BACK,
                    "restored after %d s".formatted(away.toSeconds()),
                    "back/" + preempted.name()));
    // The GpuRestore remains as the record for the budget.
    if (writes.deleteUnchanged(checkpoint)) {
      metrics.preempted(preempted.namespace(), devices(checkpoint), away);
    }
  }

  private long devices(GpuCheckpoint checkpoint) {
    Map<String, Object> template =
        Optional.ofNullable(checkpoint.getStatus())
            .map(GpuCheckpointStatus::getPodTemplate)
            .orElse(null);
    return template == null ? 0 : gpus.count(serialization.convertValue(template, Pod.class));
  }

  private boolean victimStays(GpuCheckpoint checkpoint) {
    return cluster
        .pod(checkpoint.getMetadata().getNamespace(), checkpoint.getSpec().podName())
        .filter(pod -> pod.getMetadata().getUid().equals(checkpoint.getSpec().podUid()))
        .filter(pod -> !new PodState(pod).isBeingDeleted())
        .isPresent();
  }

  private boolean preemptorWaits(PreemptedPod preempted) {
    PreemptedPod.Preemptor preemptor = preempted.preemptor();
    return cluster
        .pod(preemptor.namespace(), preemptor.name())
        .filter(pod -> pod.getMetadata().getUid().equals(preemptor.uid()))
        .filter(pod -> pod.getSpec().getNodeName() == null)
        .filter(pod -> !new PodState(pod).isBeingDeleted())
        .isPresent();
  }

  private void deleteRecord(PreemptedPod preempted, Instant now) {
    GpuRestore restore = preempted.restore().orElseThrow();
    boolean expired = preempted.created().plus(PreemptionWorkflow.BUDGET_PERIOD).isBefore(now);
    if (preempted.restorePhase().isFinal()
        && expired
        && restore.getMetadata().getDeletionTimestamp() == null) {
      writes.delete(restore);
    }
  }
}
