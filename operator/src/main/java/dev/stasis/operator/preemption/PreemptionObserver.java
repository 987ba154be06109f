package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.node.ExpectedFreeze;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.RecentMap;
import dev.stasis.operator.cluster.RefusedCreates;
import dev.stasis.operator.node.AgentLife;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads from the informers which pods run where, and which of them a policy may preempt. */
final class PreemptionObserver {

  /** Time for which a pod is skipped after a failed freeze: the cause usually persists. */
  private static final Duration AFTER_A_FAILURE = Duration.ofHours(1);

  /**
   * Time for which all pods of a namespace are skipped after a quota has refused one of them. The
   * others would be refused, too, two each second.
   */
  private static final Duration AFTER_A_FULL_QUOTA = Backoff.PATIENT;

  /** Far more pods than are refused within that time. */
  private static final int REMEMBERED = 10_000;

  private final Cluster cluster;
  private final GpuPods gpus;
  private final PolicyScope scope;
  private final AgentLife agents = new AgentLife();

  /** When the API server refused the checkpoint of a pod, by the uid of the pod. */
  private final RecentMap<String, Instant> refused = new RecentMap<>(REMEMBERED);

  /** When a ResourceQuota refused a checkpoint, by namespace. */
  private final RecentMap<String, Instant> full = new RecentMap<>(REMEMBERED);

  PreemptionObserver(Cluster cluster, GpuPods gpus, PolicyScope scope) {
    this.cluster = cluster;
    this.gpus = gpus;
    this.scope = scope;
  }

  /**
   * Takes a snapshot for all decisions of a pass.
   *
   * @param timesThisHour how often each pod was a victim in the last hour, by namespace and name
   */
  ClusterSnapshot snapshot(
      GpuPreemptionPolicy policy, Map<String, Integer> timesThisHour, Instant now) {
    GangIndex gangs = new GangIndex(cluster);
    Set<String> overQuota = overQuota(now);
    List<NodeSnapshot> nodes =
        cluster.nodes().stream()
            .filter(this::hasGpus)
            .map(
                node -> {
                  Optional<String> unreachable = unreachable(node, now);
                  return new NodeSnapshot(
                      node,
                      cluster.podsOn(node.getMetadata().getName()).stream()
                          .filter(pod -> !isBeingRemoved(pod))
                          .map(
                              pod ->
                                  candidate(
                                      policy,
                                      pod,
                                      unreachable.or(() -> full(pod, overQuota, now)),
                                      timesThisHour,
                                      gangs,
                                      now))
                          .toList());
                })
            .toList();
    Map<String, List<Pod>> nominated =
        cluster.podsWithoutNode().stream()
            .filter(pod -> pod.getStatus() != null && !new PodState(pod).isBeingDeleted())
            .filter(pod -> pod.getStatus().getNominatedNodeName() != null)
            .collect(Collectors.groupingBy(pod -> pod.getStatus().getNominatedNodeName()));
    return new ClusterSnapshot(nodes, nominated);
  }

  /**
   * The API server refuses a checkpoint of the pod.
   *
   * @param why its answer
   */
  void refused(Pod pod, String why, Instant now) {
    if (RefusedCreates.isQuotaUsedUp(why)) {
      full.put(pod.getMetadata().getNamespace(), now);
    } else {
      refused.put(pod.getMetadata().getUid(), now);
    }
  }

  /**
   * Returns the namespaces in which a store's quota has just refused the checkpoint of a victim.
   */
  private Set<String> overQuota(Instant now) {
    return cluster.policies().stream()
        .flatMap(policy -> cluster.checkpointsFor(policy.getMetadata().getUid()).stream())
        .filter(
            it ->
                Optional.ofNullable(it.getStatus()).map(GpuCheckpointStatus::getFaults).stream()
                    .flatMap(List::stream)
                    .anyMatch(fault -> Reason.QUOTA_EXCEEDED.is(fault.reason())))
        .map(GpuCheckpoint::getMetadata)
        .filter(
            it -> Instant.parse(it.getCreationTimestamp()).plus(AFTER_A_FULL_QUOTA).isAfter(now))
        .map(ObjectMeta::getNamespace)
        .collect(Collectors.toSet());
  }

  private Optional<String> full(Pod pod, Set<String> overQuota, Instant now) {
    String namespace = pod.getMetadata().getNamespace();
    boolean isFull =
        overQuota.contains(namespace)
            || full.get(namespace)
                .filter(time -> time.plus(AFTER_A_FULL_QUOTA).isAfter(now))
                .isPresent();
    return isFull
        ? Optional.of("in a namespace whose quota was full in the last 5 minutes")
        : Optional.empty();
  }

  private boolean hasGpus(Node node) {
    return node.getStatus() != null && gpus.isIn(node.getStatus().getAllocatable());
  }

  /**
   * Ended, being deleted, or frozen for an eviction: its resources become free without a victim.
   */
  private boolean isBeingRemoved(Pod pod) {
    PodState state = new PodState(pod);
    return state.isOver()
        || state.isBeingDeleted()
        || checkpoints(pod).stream()
            .anyMatch(
                it ->
                    it.getSpec().getAfterCheckpoint() == AfterCheckpoint.EVICT
                        && !Boolean.TRUE.equals(it.getSpec().getOptions().getCancel())
                        && isActive(it));
  }

  private VictimCandidate candidate(
      GpuPreemptionPolicy policy,
      Pod pod,
      Optional<String> obstacle,
      Map<String, Integer> timesThisHour,
      GangIndex gangs,
      Instant now) {
    PodState state = new PodState(pod);
    Instant started = state.since();
    Optional<String> outOfScope = scope.victimRefusal(policy, pod);
    if (outOfScope.isPresent()) {
      return VictimCandidate.spared(pod, started, outOfScope.get());
    }
    List<GpuCheckpoint> checkpoints = checkpoints(pod);
    Instant saved =
        checkpoints.stream()
            .flatMap(PreemptionObserver::saved)
            .filter(time -> time.isAfter(started))
            .max(Instant::compareTo)
            .orElse(started);
    return new VictimCandidate(
        pod,
        saved,
        started,
        expectedFreeze(pod, checkpoints),
        spared(pod, checkpoints, now).or(() -> obstacle),
        gangs.of(pod).map(Gang::why),
        timesThisHour.getOrDefault(state.name(), 0));
  }

  private Optional<String> spared(Pod pod, List<GpuCheckpoint> checkpoints, Instant now) {
    PodState state = new PodState(pod);
    if (!state.isIn("Running")) {
      return Optional.of("not running yet");
    }
    if (state.isWaitingTarget()) {
      return Optional.of("being restored");
    }
    boolean inUse =
        checkpoints.stream().anyMatch(PreemptionObserver::isActive)
            || cluster.operationsOn(pod.getMetadata().getUid()).stream()
                .map(OperationView::of)
                .anyMatch(operation -> !operation.isFinal());
    if (inUse) {
      return Optional.of("in use by another operation");
    }
    boolean failed =
        checkpoints.stream()
            .filter(it -> it.getSpec().getAfterCheckpoint() == AfterCheckpoint.EVICT)
            .filter(it -> it.getStatus() != null)
            .filter(it -> it.getStatus().getPhase() == CheckpointPhase.FAILED)
            .map(it -> Instant.parse(it.getMetadata().getCreationTimestamp()))
            .anyMatch(time -> time.plus(AFTER_A_FAILURE).isAfter(now));
    if (failed) {
      return Optional.of("whose freeze failed in the last hour");
    }
    if (refused
        .get(pod.getMetadata().getUid())
        .filter(time -> time.plus(AFTER_A_FAILURE).isAfter(now))
        .isPresent()) {
      return Optional.of("whose GpuCheckpoint was refused in the last hour");
    }
    return Owners.of(pod)
        .filter(owner -> !Owners.canHandOver(owner))
        .map(owner -> "owned by a " + owner.getKind() + ", so its next pod would be a cold start");
  }

  private Optional<String> unreachable(Node node, Instant now) {
    Optional<GpuNode> agent = cluster.gpuNode(node.getMetadata().getName());
    return agent.isEmpty()
        ? Optional.of("on a node without an agent")
        : agents.against(agent.get(), now).map(why -> "on a node whose agent does not respond");
  }

  /** Estimated from its last checkpoint, else from the total memory of its GPUs. */
  private Duration expectedFreeze(Pod pod, List<GpuCheckpoint> checkpoints) {
    GpuNodeStatus node =
        cluster.gpuNode(pod.getSpec().getNodeName()).map(GpuNode::getStatus).orElse(null);
    List<NodeGpu> devices =
        node == null ? List.of() : Objects.requireNonNullElse(node.getGpus(), List.of());
    long largest =
        devices.stream()
            .map(NodeGpu::memoryBytes)
            .filter(Objects::nonNull)
            .mapToLong(Long::longValue)
            .max()
            .orElse(0);
    long bytes =
        checkpoints.stream()
            .map(it -> it.getStatus() == null ? null : it.getStatus().getArtifact())
            .filter(Objects::nonNull)
            .map(ArtifactStatus::getGpuBytes)
            .filter(Objects::nonNull)
            .reduce((older, newer) -> newer)
            .orElse(largest * gpus.count(pod));
    return new ExpectedFreeze(bytes, 0, 0, DataPath.MOVER, true)
        .frozen(node == null ? null : node.getSelfTest());
  }

  private List<GpuCheckpoint> checkpoints(Pod pod) {
    return cluster
        .checkpointsOf(pod.getMetadata().getNamespace(), pod.getMetadata().getName())
        .stream()
        .filter(it -> isOf(it, pod.getMetadata().getUid()))
        .toList();
  }

  private static boolean isOf(GpuCheckpoint checkpoint, String uid) {
    String observed =
        Optional.ofNullable(checkpoint.getStatus())
            .map(GpuCheckpointStatus::getPod)
            .map(ObservedPod::uid)
            .orElse(checkpoint.getSpec().podUid());
    return observed == null || uid.equals(observed);
  }

  private static boolean isActive(GpuCheckpoint checkpoint) {
    CheckpointPhase phase = CurrentPhase.of(checkpoint);
    return !Boolean.TRUE.equals(checkpoint.getSpec().getOptions().getDryRun())
        && phase != CheckpointPhase.READY
        && !phase.isFinal();
  }

  private static Stream<Instant> saved(GpuCheckpoint checkpoint) {
    return CurrentPhase.of(checkpoint) == CheckpointPhase.READY
        ? PhaseLog.of(checkpoint.getStatus()).first(CheckpointPhase.FREEZING).stream()
        : Stream.empty();
  }
}
