package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuCheckpointSchedule;
import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.common.AfterCheckpoint;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.node.AgentLife;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.selector.Selector;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Looks at everything that concerns one schedule. */
final class Observer {

  private final Cluster cluster;
  private final GpuPods gpus;
  private final Departures departures;
  private final AgentLife agents = new AgentLife();

  Observer(Cluster cluster, GpuPods gpus, Departures departures) {
    this.cluster = cluster;
    this.gpus = gpus;
    this.departures = departures;
  }

  /**
   * Looks; the object has a status.
   *
   * @throws IllegalArgumentException names what of the selector cannot be read
   */
  View look(GpuCheckpointSchedule schedule, Instant now) {
    String namespace = schedule.getMetadata().getNamespace();
    Selector selector = new Selector(schedule.getSpec().getSelector());
    List<GpuCheckpoint> all = cluster.checkpoints(namespace);
    Predicate<Pod> meant = pod -> gpus.has(pod) && selector.matches(pod.getMetadata().getLabels());
    List<Taken> taken =
        all.stream()
            .filter(checkpoint -> isOf(checkpoint, schedule))
            .map(Taken::new)
            .sorted(Comparator.comparing(Taken::due).thenComparing(Taken::name))
            .toList();
    Set<String> names = taken.stream().map(Taken::name).collect(Collectors.toSet());
    List<GpuRestore> restores =
        cluster.restores(namespace).stream()
            .filter(
                restore ->
                    isOf(restore, schedule)
                        || names.contains(restore.getSpec().getCheckpointName()))
            .toList();
    return new View(
        schedule,
        cluster.pods(namespace).stream()
            .filter(meant)
            .filter(pod -> !Failures.isWaitingTarget(pod))
            .filter(pod -> !isInHand(pod, all))
            .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
            .toList(),
        departures.of(namespace).stream().filter(meant).filter(pod -> !isInHand(pod, all)).toList(),
        taken,
        restores,
        unreachable(taken, now),
        now);
  }

  /** How many pods the namespace has, for the sentence that none of them matches. */
  int pods(String namespace) {
    return cluster.pods(namespace).size();
  }

  static boolean isOf(HasMetadata made, GpuCheckpointSchedule schedule) {
    return schedule
        .getMetadata()
        .getUid()
        .equals(
            Objects.requireNonNullElse(made.getMetadata().getLabels(), Map.<String, String>of())
                .get(Api.OPERATION_UID_LABEL));
  }

  /** Whether its going is Stasis' own work: an eviction with a checkpoint, a migration. */
  private boolean isInHand(Pod pod, List<GpuCheckpoint> all) {
    if (pod.getMetadata().getDeletionTimestamp() == null
        && (pod.getStatus() == null || Failures.disruption(pod).isEmpty())) {
      return false;
    }
    String uid = pod.getMetadata().getUid();
    return cluster.operationsOn(uid).stream()
            .map(OperationView::of)
            .anyMatch(operation -> !operation.isFinal())
        || all.stream()
            .filter(it -> it.getSpec().getAfterCheckpoint() == AfterCheckpoint.EVICT)
            .filter(it -> it.getStatus() != null && !isGivenUp(it.getStatus().getPhase()))
            .anyMatch(
                it ->
                    Optional.ofNullable(it.getStatus().getPod())
                        .map(ObservedPod::uid)
                        .filter(uid::equals)
                        .isPresent());
  }

  private static boolean isGivenUp(@org.jspecify.annotations.Nullable CheckpointPhase phase) {
    return phase == CheckpointPhase.FAILED || phase == CheckpointPhase.CANCELLED;
  }

  private Map<String, String> unreachable(List<Taken> taken, Instant now) {
    Map<String, String> away = new HashMap<>();
    taken.stream()
        .flatMap(it -> it.node().stream())
        .distinct()
        .forEach(
            node -> {
              Optional<GpuNode> agent = cluster.gpuNode(node);
              Optional<String> why =
                  agent.isEmpty()
                      ? Optional.of("no agent on node " + node)
                      : agents.silent(agent.get(), now);
              why.map(it -> "it lies on the disk of node " + node + ": " + it)
                  .ifPresent(it -> away.put(node, it));
            });
    return away;
  }
}
