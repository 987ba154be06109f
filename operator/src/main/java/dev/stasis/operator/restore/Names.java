package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Names of pods that a target cannot have.
 *
 * @param cluster may be behind
 */
record Names(Cluster cluster) {

  Set<String> taken(String namespace) {
    return cluster.pods(namespace).stream()
        .map(pod -> pod.getMetadata().getName())
        .collect(Collectors.toCollection(HashSet::new));
  }

  /**
   * Whether the name that is asked for becomes free by itself: its pod has gone since it was
   * counted, is going, or is the one that was evicted, which the watch has not told yet.
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
        .filter(
            status ->
                new Conditions(Objects.requireNonNullElse(status.getConditions(), List.of()))
                    .find(ConditionType.SOURCE_RUNNING)
                    .filter(condition -> condition.reason().equals(Reason.EVICTED.word()))
                    .isPresent())
        .map(status -> status.getPod())
        .map(ObservedPod::uid);
  }
}
