package dev.stasis.operator.preemption;

import dev.stasis.operator.cluster.Cluster;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Finds the gangs of pods within one pass; counts the pods of a namespace's Jobs once. */
final class GangIndex {

  private final Map<String, Map<String, Long>> jobs = new HashMap<>();
  private final Cluster cluster;

  GangIndex(Cluster cluster) {
    this.cluster = cluster;
  }

  Optional<Gang> of(Pod pod) {
    return Gang.of(
        pod, namespace -> jobs.computeIfAbsent(namespace, it -> Gang.jobs(cluster.pods(it))));
  }
}
