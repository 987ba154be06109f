package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.GpuPreemptionPolicy;
import dev.stasis.api.v1alpha1.policy.Preemptors;
import dev.stasis.api.v1alpha1.policy.Victims;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.selector.Selector;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Whom policies speak of. */
final class Admission {

  private static final String NEVER = "Never";

  /** Those of the cluster itself, which no GPU workload should have. */
  private static final String SYSTEM = "system-";

  /** A pod without one. */
  private static final String NONE = "(none)";

  private final Cluster cluster;
  private final GpuPods gpus;

  Admission(Cluster cluster, GpuPods gpus) {
    this.cluster = cluster;
    this.gpus = gpus;
  }

  /** Whether room may be made for that pod. */
  boolean isPreemptor(GpuPreemptionPolicy policy, Pod pod) {
    Preemptors who = policy.getSpec().getPreemptors();
    return gpus.has(pod)
        && new PodState(pod).priority() >= who.minPriority()
        && matches(who.selector(), who.namespaceSelector(), pod);
  }

  /** Why that pod is never a victim; empty: it may be one, as far as this policy goes. */
  Optional<String> noVictim(GpuPreemptionPolicy policy, Pod pod) {
    Victims who = policy.getSpec().getVictims();
    if (!gpus.has(pod)) {
      return Optional.of("without a GPU");
    }
    return matches(who.selector(), who.namespaceSelector(), pod)
        ? Optional.empty()
        : Optional.of("not selected by the policy");
  }

  /** Pods that the scheduler could not place, the most important first, then the oldest. */
  List<Pod> waiting(GpuPreemptionPolicy policy) {
    return cluster.podsWithoutNode().stream()
        .filter(
            pod -> new PodState(pod).unschedulable().isPresent() && !new PodState(pod).isGated())
        .filter(pod -> isPreemptor(policy, pod))
        .sorted(
            Comparator.comparing((Pod pod) -> new PodState(pod).priority())
                .reversed()
                .thenComparing(pod -> pod.getMetadata().getCreationTimestamp())
                .thenComparing(pod -> new PodState(pod).name()))
        .toList();
  }

  /** How many wait for somebody to let them be scheduled, Kueue for instance. */
  long gated(GpuPreemptionPolicy policy) {
    return cluster.podsWithoutNode().stream()
        .filter(pod -> new PodState(pod).isGated() && isPreemptor(policy, pod))
        .count();
  }

  /** An older policy that is for that pod too; of several policies the oldest acts. */
  Optional<GpuPreemptionPolicy> older(GpuPreemptionPolicy policy, Pod pod) {
    return cluster.policies().stream()
        .filter(other -> !Boolean.TRUE.equals(other.getSpec().getSuspend()))
        .filter(other -> AGE.compare(other, policy) < 0 && isPreemptor(other, pod))
        .min(AGE);
  }

  private static final Comparator<GpuPreemptionPolicy> AGE =
      Comparator.comparing(
              (GpuPreemptionPolicy policy) ->
                  Instant.parse(policy.getMetadata().getCreationTimestamp()))
          .thenComparing(policy -> policy.getMetadata().getName());

  /**
   * PriorityClasses with which the scheduler deletes victims by itself before anybody can freeze
   * them: those of preemptors that there are, and those that one could have.
   */
  SortedSet<String> preempting(GpuPreemptionPolicy policy, Collection<Pod> all) {
    SortedSet<String> names = new TreeSet<>();
    SortedSet<String> ofOthers = new TreeSet<>();
    SortedSet<String> ofPreemptors = new TreeSet<>();
    for (Pod pod : all) {
      String name = Objects.requireNonNullElse(pod.getSpec().getPriorityClassName(), NONE);
      if (isPreemptor(policy, pod)) {
        ofPreemptors.add(name);
        if (!NEVER.equals(pod.getSpec().getPreemptionPolicy())) {
          names.add(name);
        }
      } else if (!gpus.has(pod)) {
        ofOthers.add(name);
      }
    }
    for (PriorityClass found : cluster.priorityClasses()) {
      String name = found.getMetadata().getName();
      boolean possible =
          !name.startsWith(SYSTEM)
              && (ofPreemptors.contains(name) || !ofOthers.contains(name))
              && found.getValue() >= policy.getSpec().getPreemptors().minPriority();
      if (possible && !NEVER.equals(found.getPreemptionPolicy())) {
        names.add(name);
      }
    }
    return names;
  }

  private boolean matches(
      @Nullable LabelSelector labels, @Nullable LabelSelector ofNamespace, Pod pod) {
    if (labels != null && !new Selector(labels).matches(pod.getMetadata().getLabels())) {
      return false;
    }
    if (ofNamespace == null) {
      return true;
    }
    Map<String, String> namespace =
        cluster
            .namespace(pod.getMetadata().getNamespace())
            .map(Namespace::getMetadata)
            .map(it -> it.getLabels())
            .orElse(Map.of());
    return new Selector(ofNamespace).matches(namespace);
  }

  /** Everything that runs or waits. */
  Stream<Pod> pods() {
    return Stream.concat(
            cluster.podsWithoutNode().stream(),
            cluster.nodes().stream()
                .flatMap(it -> cluster.podsOn(it.getMetadata().getName()).stream()))
        .filter(pod -> !new PodState(pod).isOver());
  }
}
