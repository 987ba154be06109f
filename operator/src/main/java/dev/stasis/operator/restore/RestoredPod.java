package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.resize.HeadroomReturn;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.TimeToLive;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Observes the pod of a finished GpuRestore: lowers its memory limit, reports restarts, and deletes
 * the GpuRestore after its time to live.
 */
@Singleton
class RestoredPod {

  /** Interval of checks for one that is kept for its checkpoint; a check costs no request. */
  private static final Duration NEEDED = Duration.ofHours(1);

  private final Cluster cluster;
  private final KubernetesClient client;
  private final HeadroomReturn headroom;
  private final RestoreReporter reporter;
  private final StasisConfig config;

  RestoredPod(
      Cluster cluster,
      PodWrites pods,
      RestoreReporter reporter,
      KubernetesClient client,
      StasisConfig config) {
    this.cluster = cluster;
    this.headroom = new HeadroomReturn(pods);
    this.reporter = reporter;
    this.client = client;
    this.config = config;
  }

  /** Returns when the GpuRestore is observed again; empty if only after a change. */
  Optional<Duration> observe(RestoreContext context) {
    ObservedPod known = context.status().getPod();
    if (context.target().isPresent() && known != null && known.container() != null) {
      Pod pod = context.theTarget();
      reportRestarts(context, pod, known.container());
      if (isRaised(context) && !lower(context, pod, known.container())) {
        return Optional.of(config.lookAgainEvery());
      }
    }
    return expire(context);
  }

  private void reportRestarts(RestoreContext context, Pod pod, String container) {
    int known = Objects.requireNonNullElse(context.status().getRestarts(), 0);
    int now =
        new PodState(pod).container(container).map(ContainerStatus::getRestartCount).orElse(known);
    if (now > known) {
      String checkpoint = context.restore().getSpec().checkpointName();
      reporter.restarted(
          context,
          pod,
          known,
          now,
          ("container %s exited and was restarted from its image: restart %d; the checkpoint %s"
                  + " is unchanged")
              .formatted(container, now, checkpoint));
      context.status().setRestarts(now);
    }
  }

  private static boolean isRaised(RestoreContext context) {
    return Conditions.of(context.status()).isFalse(ConditionType.ROOM_RETURNED);
  }

  /** Returns whether the limit has its old value, or can never have it. */
  private boolean lower(RestoreContext context, Pod pod, String container) {
    if (!(context.source() instanceof Source.Ready source)) {
      String message = "its checkpoint was deleted, so the original limit is unknown";
      context.updater().roomReturned(false, "container " + container + ": " + message);
      return true;
    }
    Optional<HeadroomReturn.Result> result = headroom.lower(source.pod(), pod, container);
    result.ifPresent(it -> context.updater().roomReturned(it.done(), it.message()));
    return result.filter(HeadroomReturn.Result::done).isPresent();
  }

  private Optional<Duration> expire(RestoreContext context) {
    GpuRestore restore = context.restore();
    Optional<Duration> left =
        new TimeToLive(restore.getSpec().getOptions().getTtlSecondsAfterFinished())
            .left(context.phases(), context.now());
    if (left.isEmpty() || !left.get().isZero()) {
      return left;
    }
    // It records that the workload of an evicted pod is restored: without it the hand-over to its
    // controller would start again, and the artifact would be kept as the only copy.
    boolean needed =
        cluster
            .checkpoint(restore.getMetadata().getNamespace(), restore.getSpec().checkpointName())
            .filter(RestoredPod::isOnlyCopy)
            .isPresent();
    if (needed) {
      return Optional.of(NEEDED);
    }
    client.resource(restore).delete();
    return Optional.empty();
  }

  /**
   * Returns whether its workload would exist only in its artifact without a restore. The pod of a
   * failed eviction may have been removed nevertheless.
   */
  private static boolean isOnlyCopy(GpuCheckpoint checkpoint) {
    Conditions conditions = Conditions.of(checkpoint.getStatus());
    return checkpoint.getSpec().getAfterCheckpoint() == AfterCheckpoint.EVICT
        || conditions.isEvicted()
        || conditions.isLost();
  }
}
