package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuPreemptionPolicy;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** What becomes of a pod that yielded, and of what was made for it. */
final class Aftermath {

  private final Cluster cluster;
  private final GpuPods gpus;
  private final Deeds deeds;
  private final Stories stories;
  private final StasisMetrics metrics;
  private final KubernetesSerialization serialization;

  Aftermath(
      Cluster cluster,
      GpuPods gpus,
      Deeds deeds,
      Stories stories,
      StasisMetrics metrics,
      KubernetesSerialization serialization) {
    this.cluster = cluster;
    this.gpus = gpus;
    this.deeds = deeds;
    this.stories = stories;
    this.metrics = metrics;
    this.serialization = serialization;
  }

  void follow(GpuPreemptionPolicy policy, Yield yield, Instant now) {
    if (yield.checkpoint().isEmpty()) {
      recordOver(yield, now);
      return;
    }
    GpuCheckpoint checkpoint = yield.checkpoint().get();
    if (checkpoint.getMetadata().getDeletionTimestamp() != null) {
      return;
    }
    if (yield.isRefused()) {
      refused(policy, yield, checkpoint, now);
    } else if (yield.restore().isEmpty()) {
      deeds.bringBack(policy, checkpoint);
    }
    if (yield.isAtWork() && !yield.isCancelled() && stays(checkpoint) && isNeedless(yield)) {
      deeds.cancel(checkpoint);
      stories.tell(
          checkpoint,
          Reason.PREEMPTOR_GONE,
          "pod %s/%s needs no room any more: the freeze is undone"
              .formatted(yield.preemptor().namespace(), yield.preemptor().name()),
          "needless");
    }
    if (yield.isAway()) {
      keepPlace(yield);
    }
    if (yield.isEvicted() && yield.back() == RestorePhase.SUCCEEDED) {
      back(yield, checkpoint, now);
    } else if (yield.isEvicted() && yield.back().isFinal()) {
      stories.warn(
          policy,
          Reason.NOT_BROUGHT_BACK,
          "pod %s/%s did not come back: GpuRestore %s is %s; its checkpoint %s stays"
              .formatted(
                  yield.namespace(), yield.victim(), yield.name(), yield.back(), yield.name()),
          "lost/" + yield.name());
    }
  }

  /** It goes on as if nothing had been: nothing is to be brought back. */
  private void refused(
      GpuPreemptionPolicy policy, Yield yield, GpuCheckpoint checkpoint, Instant now) {
    yield
        .restore()
        .filter(restore -> restore.getMetadata().getDeletionTimestamp() == null)
        .ifPresent(deeds::forget);
    String why =
        new Conditions(
                Objects.requireNonNullElse(yield.status().getConditions(), List.<Condition>of()))
            .find(ConditionType.READY)
            .map(Condition::message)
            .orElse("it says nothing");
    if (!yield.isCancelled()) {
      stories.warn(
          policy,
          Reason.OPERATION_FAILED,
          "pod %s/%s could not be frozen and %s: %s"
              .formatted(
                  yield.namespace(),
                  yield.victim(),
                  yield.isLeftFrozen() ? "still stands still, its agent tries again" : "goes on",
                  why),
          "refused/" + yield.name());
    }
    if (yield.created().plus(Turn.HOUR).isBefore(now)) {
      deeds.forget(checkpoint);
    }
  }

  /** Among pods that are as important, whoever yielded there comes first. */
  private void keepPlace(Yield yield) {
    ObservedPod was = yield.status().getPod();
    cluster
        .pod(yield.namespace(), yield.comesBackAs())
        .filter(pod -> new PodState(pod).isWaitingTarget())
        .filter(pod -> new PodState(pod).unschedulable().isPresent())
        .filter(pod -> pod.getStatus().getNominatedNodeName() == null)
        .ifPresent(
            pod -> {
              if (was != null && was.node() != null) {
                deeds.nominate(pod, was.node());
              }
            });
  }

  private void back(Yield yield, GpuCheckpoint checkpoint, Instant now) {
    Instant evicted = yield.evicted().orElse(yield.created());
    Duration away = Duration.between(evicted, yield.returned().orElse(now));
    String sentence = "back after %d s".formatted(away.toSeconds());
    cluster
        .pod(yield.namespace(), yield.comesBackAs())
        .ifPresent(pod -> stories.tell(pod, Reason.BACK, sentence, "back/" + yield.name()));
    // Its hour in the budget is the GpuRestore's to remember.
    if (deeds.forget(checkpoint)) {
      metrics.preempted(yield.namespace(), devices(checkpoint), away);
    }
  }

  private long devices(GpuCheckpoint checkpoint) {
    Map<String, Object> template =
        Optional.ofNullable(checkpoint.getStatus())
            .map(status -> status.getPodTemplate())
            .orElse(null);
    return template == null ? 0 : gpus.count(serialization.convertValue(template, Pod.class));
  }

  /** Not on its way out, from where nothing brings it back to where it was. */
  private boolean stays(GpuCheckpoint checkpoint) {
    return cluster
        .pod(checkpoint.getMetadata().getNamespace(), checkpoint.getSpec().getPodName())
        .filter(pod -> pod.getMetadata().getUid().equals(checkpoint.getSpec().getPodUid()))
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .isPresent();
  }

  /** The pod for which it is frozen is gone, or has a node. */
  private boolean isNeedless(Yield yield) {
    Yield.Preemptor preemptor = yield.preemptor();
    return cluster
        .pod(preemptor.namespace(), preemptor.name())
        .filter(pod -> pod.getMetadata().getUid().equals(preemptor.uid()))
        .filter(pod -> pod.getSpec().getNodeName() == null)
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .isEmpty();
  }

  private void recordOver(Yield yield, Instant now) {
    GpuRestore restore = yield.restore().orElseThrow();
    boolean over = yield.back().isFinal() && yield.created().plus(Turn.HOUR).isBefore(now);
    if (over && restore.getMetadata().getDeletionTimestamp() == null) {
      deeds.forget(restore);
    }
  }
}
