package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.node.AgentLife;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.FormerPods;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.selector.Selector;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Reads the objects that concern a schedule from the informers. */
final class ScheduleObserver {

  private final Cluster cluster;
  private final GpuPods gpus;
  private final DeletedPods deletedPods;
  private final AgentLife agents = new AgentLife();

  ScheduleObserver(Cluster cluster, GpuPods gpus, DeletedPods deletedPods) {
    this.cluster = cluster;
    this.gpus = gpus;
    this.deletedPods = deletedPods;
  }

  /**
   * Observes a schedule that has a status.
   *
   * @throws IllegalArgumentException names what of the selector is invalid
   */
  ScheduleState observe(GpuCheckpointSchedule schedule, Instant now) {
    String namespace = schedule.getMetadata().getNamespace();
    String uid = schedule.getMetadata().getUid();
    Selector selector = new Selector(schedule.getSpec().getSelector());
    Predicate<Pod> selected =
        pod ->
            gpus.has(pod)
                && selector.matches(pod.getMetadata().getLabels())
                && !isRemovedByStasis(pod);
    List<ScheduledCheckpoint> checkpoints =
        cluster.checkpointsFor(uid).stream()
            .filter(it -> isIn(namespace, it))
            .map(ScheduledCheckpoint::new)
            .sorted(
                Comparator.comparing(ScheduledCheckpoint::due)
                    .thenComparing(ScheduledCheckpoint::name))
            .toList();
    Map<String, GpuRestore> restores = new HashMap<>();
    Stream.concat(
            cluster.restoresFor(uid).stream().filter(it -> isIn(namespace, it)),
            checkpoints.stream().flatMap(it -> cluster.restoresOf(namespace, it.name()).stream()))
        .forEach(restore -> restores.put(restore.getMetadata().getName(), restore));
    return new ScheduleState(
        schedule,
        cluster.pods(namespace).stream()
            .filter(selected.and(pod -> !new PodState(pod).isWaitingTarget()))
            .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
            .toList(),
        deletedPods.in(namespace).stream().filter(selected).toList(),
        Stream.concat(cluster.pods(namespace).stream(), deletedPods.in(namespace).stream())
            .filter(pod -> !FormerPods.before(pod.getMetadata()).pods().isEmpty())
            .toList(),
        checkpoints,
        restores,
        unreachable(checkpoints, now),
        now);
  }

  /** Users of other namespaces can set the schedule's label, too. */
  private static boolean isIn(String namespace, HasMetadata request) {
    return namespace.equals(request.getMetadata().getNamespace());
  }

  int pods(String namespace) {
    return cluster.pods(namespace).size();
  }

  /** Returns whether Stasis itself removes the pod: for an eviction or a migration. */
  private boolean isRemovedByStasis(Pod pod) {
    PodState state = new PodState(pod);
    if (!state.isBeingDeleted() && state.disruption().isEmpty()) {
      return false;
    }
    String uid = pod.getMetadata().getUid();
    return cluster.operationsOn(uid).stream()
            .map(OperationView::of)
            .anyMatch(operation -> !operation.isFinal())
        || cluster
            .checkpointsOf(pod.getMetadata().getNamespace(), pod.getMetadata().getName())
            .stream()
            .anyMatch(checkpoint -> evicts(checkpoint, uid));
  }

  private static boolean evicts(GpuCheckpoint checkpoint, String podUid) {
    if (checkpoint.getStatus() == null
        || checkpoint.getSpec().getAfterCheckpoint() != AfterCheckpoint.EVICT) {
      return false;
    }
    CheckpointPhase phase = checkpoint.getStatus().getPhase();
    return phase != CheckpointPhase.FAILED
        && phase != CheckpointPhase.CANCELLED
        && Optional.ofNullable(checkpoint.getStatus().getPod())
            .map(ObservedPod::uid)
            .filter(podUid::equals)
            .isPresent();
  }

  private Map<String, String> unreachable(List<ScheduledCheckpoint> checkpoints, Instant now) {
    Map<String, String> unreachable = new HashMap<>();
    checkpoints.stream()
        .flatMap(it -> it.node().stream())
        .distinct()
        .forEach(
            node -> {
              Optional<GpuNode> agent = cluster.gpuNode(node);
              Optional<String> why =
                  agent.isEmpty()
                      ? Optional.of("no agent on node " + node)
                      : agents.silent(agent.get(), now);
              why.map(it -> "it is on the disk of node " + node + ": " + it)
                  .ifPresent(it -> unreachable.put(node, it));
            });
    return unreachable;
  }
}
