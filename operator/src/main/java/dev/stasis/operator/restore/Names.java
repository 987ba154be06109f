package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.status.Conditions;
import java.util.Optional;

/**
 * Checks whether the requested name of a target pod becomes free.
 *
 * @param cluster may lag behind
 */
record Names(Cluster cluster) {

  /**
   * Returns whether the requested name becomes free by itself: its pod has gone since it was read,
   * is being deleted, or is the evicted one, which the watch has not shown yet.
   */
  boolean isFreed(GpuRestore restore, GpuCheckpoint source) {
    Optional<String> asked =
        Optional.ofNullable(restore.getSpec().getTarget()).map(Target::podName);
    Optional<String> evicted = evicted(source);
    return asked
        .flatMap(name -> cluster.pod(restore.getMetadata().getNamespace(), name))
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .filter(pod -> !evicted.equals(Optional.of(pod.getMetadata().getUid())))
        .isEmpty();
  }

  private static Optional<String> evicted(GpuCheckpoint source) {
    return Optional.ofNullable(source.getStatus())
        .filter(status -> Conditions.of(status).isEvicted())
        .map(status -> status.getPod())
        .map(ObservedPod::uid);
  }
}
