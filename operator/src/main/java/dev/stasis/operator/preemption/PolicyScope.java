package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.policy.Preemptors;
import dev.stasis.api.v1beta1.policy.Victims;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.selector.Selector;
import io.fabric8.kubernetes.api.model.LabelSelector;
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

/** Which pods a policy applies to. */
final class PolicyScope {

  private static final String NEVER = "Never";

  /** Prefix of the PriorityClasses of Kubernetes, which no GPU workload should have. */
  private static final String SYSTEM = "system-";

  /** The class of a pod without one. */
  private static final String NONE = "(none)";

  private final Cluster cluster;
  private final GpuPods gpus;

  PolicyScope(Cluster cluster, GpuPods gpus) {
    this.cluster = cluster;
    this.gpus = gpus;
  }

  boolean isPreemptor(GpuPreemptionPolicy policy, Pod pod) {
    Preemptors preemptors = policy.getSpec().getPreemptors();
    return gpus.has(pod)
        && new PodState(pod).priority() >= preemptors.minPriority()
        && matches(preemptors.selector(), preemptors.namespaceSelector(), pod);
  }

  /** Returns why the policy never preempts the pod; empty if it may. */
  Optional<String> victimRefusal(GpuPreemptionPolicy policy, Pod pod) {
    Victims victims = policy.getSpec().getVictims();
    if (!gpus.has(pod)) {
      return Optional.of("without a GPU");
    }
    return matches(victims.selector(), victims.namespaceSelector(), pod)
        ? Optional.empty()
        : Optional.of("not selected by the policy");
  }

  /** Returns the pods that the scheduler could not place, by priority, then by age. */
  List<Pod> waiting(GpuPreemptionPolicy policy) {
    return cluster.podsWithoutNode().stream()
        .filter(pod -> new PodState(pod).isUnschedulable() && !new PodState(pod).isGated())
        .filter(pod -> isPreemptor(policy, pod))
        .sorted(
            Comparator.comparing((Pod pod) -> new PodState(pod).priority())
                .reversed()
                .thenComparing(pod -> pod.getMetadata().getCreationTimestamp())
                .thenComparing(pod -> new PodState(pod).name()))
        .toList();
  }

  /** Returns the number of preemptors with a scheduling gate, for example of Kueue. */
  long gated(GpuPreemptionPolicy policy) {
    return cluster.podsWithoutNode().stream()
        .filter(pod -> new PodState(pod).isGated() && isPreemptor(policy, pod))
        .count();
  }

  /** Returns an older policy for the same pod: of several policies the oldest acts. */
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
   * Returns the PriorityClasses with which the scheduler itself preempts, by deleting victims
   * before they can be frozen: those of existing preemptors, and those that a preemptor could have.
   */
  SortedSet<String> preemptingClasses(GpuPreemptionPolicy policy, Collection<Pod> all) {
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

  /** Returns how many pods the policy could preempt. */
  int candidates(GpuPreemptionPolicy policy, Collection<Pod> all) {
    int most = policy.getSpec().getVictims().maxPriority();
    return (int)
        all.stream()
            .filter(pod -> pod.getSpec().getNodeName() != null)
            .filter(pod -> new PodState(pod).priority() <= most)
            .filter(pod -> victimRefusal(policy, pod).isEmpty())
            .count();
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
        cluster.namespace(pod.getMetadata().getNamespace()).map(Marks::labels).orElse(Map.of());
    return new Selector(ofNamespace).matches(namespace);
  }

  /** Returns all pods that run or wait. */
  Stream<Pod> pods() {
    return Stream.concat(
            cluster.podsWithoutNode().stream(),
            cluster.nodes().stream()
                .flatMap(it -> cluster.podsOn(it.getMetadata().getName()).stream()))
        .filter(pod -> !new PodState(pod).isOver());
  }
}
