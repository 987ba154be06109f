package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.GpuPreemptionPolicy;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.common.AfterCheckpoint;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.DataPath;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.node.GpuNodeStatus;
import dev.stasis.api.v1alpha1.node.NodeGpu;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.explain.Expectation;
import dev.stasis.operator.node.AgentLife;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.Owners;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Counts who runs where, and who of them could yield. */
final class Census {

  /** A pod whose freeze failed is not tried again so soon: the reason is usually still there. */
  private static final Duration AFTER_A_FAILURE = Duration.ofHours(1);

  private final Cluster cluster;
  private final GpuPods gpus;
  private final Admission admission;
  private final AgentLife agents = new AgentLife();

  Census(Cluster cluster, GpuPods gpus, Admission admission) {
    this.cluster = cluster;
    this.gpus = gpus;
    this.admission = admission;
  }

  /**
   * Nodes with GPUs, as the scheduler will see them once everybody who is on the way out has gone.
   *
   * @param preemptors for whom; what is nominated to a node for others as important is not free
   * @param times how often a pod has yielded in the last hour, by namespace and name
   */
  List<Place> places(
      GpuPreemptionPolicy policy, List<Pod> preemptors, Map<String, Integer> times, Instant now) {
    List<Place> places = new ArrayList<>();
    int least = preemptors.stream().mapToInt(pod -> new PodState(pod).priority()).min().orElse(0);
    Set<String> own = Set.copyOf(preemptors.stream().map(it -> it.getMetadata().getUid()).toList());
    for (Node node : cluster.nodes()) {
      if (!hasGpus(node)) {
        continue;
      }
      String name = node.getMetadata().getName();
      Optional<String> away = away(name, now);
      List<Candidate> pods = new ArrayList<>();
      for (Pod pod : cluster.podsOn(name)) {
        if (!isGoing(pod)) {
          pods.add(candidate(policy, pod, name, away, times, now));
        }
      }
      places.add(new Place(node, pods, promised(name, least, own)));
    }
    return places;
  }

  private boolean hasGpus(Node node) {
    Map<String, Quantity> has =
        node.getStatus() == null
            ? Map.of()
            : Objects.requireNonNullElse(node.getStatus().getAllocatable(), Map.of());
    return gpus.resources().stream()
        .map(has::get)
        .filter(Objects::nonNull)
        .anyMatch(amount -> amount.getNumericalAmount().compareTo(BigDecimal.ZERO) > 0);
  }

  /** Over, being deleted, or frozen to be evicted: it needs no further victim to go. */
  private boolean isGoing(Pod pod) {
    return new PodState(pod).isOver()
        || pod.getMetadata().getDeletionTimestamp() != null
        || ofThisPod(pod).stream()
            .anyMatch(
                it ->
                    it.getSpec().getAfterCheckpoint() == AfterCheckpoint.EVICT
                        && !Boolean.TRUE.equals(it.getSpec().getCancel())
                        && isAtWork(it));
  }

  private Candidate candidate(
      GpuPreemptionPolicy policy,
      Pod pod,
      String node,
      Optional<String> away,
      Map<String, Integer> times,
      Instant now) {
    Instant started = new PodState(pod).since();
    Optional<String> never = admission.noVictim(policy, pod);
    if (never.isPresent()) {
      return new Candidate(pod, started, started, Duration.ZERO, never, Optional.empty(), 0);
    }
    List<GpuCheckpoint> checkpoints = ofThisPod(pod);
    Instant saved =
        checkpoints.stream()
            .flatMap(it -> saved(it).stream())
            .filter(time -> time.isAfter(started))
            .max(Instant::compareTo)
            .orElse(started);
    return new Candidate(
        pod,
        saved,
        started,
        expected(pod, node, checkpoints),
        spared(pod, checkpoints, now).or(() -> away),
        Gang.of(pod, cluster::pods).map(Gang::why),
        times.getOrDefault(new PodState(pod).name(), 0));
  }

  private Optional<String> spared(Pod pod, List<GpuCheckpoint> checkpoints, Instant now) {
    if (pod.getStatus() == null || !"Running".equals(pod.getStatus().getPhase())) {
      return Optional.of("not running yet");
    }
    if (new PodState(pod).isWaitingTarget()) {
      return Optional.of("being restored");
    }
    boolean inHand =
        checkpoints.stream().anyMatch(Census::isAtWork)
            || cluster.operationsOn(pod.getMetadata().getUid()).stream()
                .map(OperationView::of)
                .anyMatch(operation -> !operation.isFinal());
    if (inHand) {
      return Optional.of("in the hands of another operation");
    }
    boolean failed =
        checkpoints.stream()
            .filter(it -> it.getSpec().getAfterCheckpoint() == AfterCheckpoint.EVICT)
            .filter(it -> it.getStatus() != null)
            .filter(it -> it.getStatus().getPhase() == CheckpointPhase.FAILED)
            .map(it -> Instant.parse(it.getMetadata().getCreationTimestamp()))
            .anyMatch(time -> time.plus(AFTER_A_FAILURE).isAfter(now));
    if (failed) {
      return Optional.of("not frozen when it was tried in the last hour");
    }
    return Owners.of(pod)
        .filter(owner -> !Owners.canHandOver(owner))
        .map(owner -> "owned by a " + owner.getKind() + ", whose next pod would start cold");
  }

  private Optional<String> away(String node, Instant now) {
    Optional<GpuNode> agent = cluster.gpuNode(node);
    return agent.isEmpty()
        ? Optional.of("on a node without an agent")
        : agents.against(agent.get(), now).map(why -> "on a node whose agent does not answer");
  }

  private Amounts promised(String node, int least, Set<String> own) {
    Amounts promised = Amounts.none();
    for (Pod pod : cluster.podsWithoutNode()) {
      boolean counts =
          pod.getStatus() != null
              && node.equals(pod.getStatus().getNominatedNodeName())
              && pod.getMetadata().getDeletionTimestamp() == null
              && !own.contains(pod.getMetadata().getUid())
              && new PodState(pod).priority() >= least;
      if (counts) {
        promised = promised.plus(Amounts.of(pod));
      }
    }
    return promised;
  }

  /** From what it took before; else from all the memory of as many GPUs as it has. */
  private Duration expected(Pod pod, String node, List<GpuCheckpoint> checkpoints) {
    GpuNodeStatus status = cluster.gpuNode(node).map(GpuNode::getStatus).orElse(null);
    long largest =
        status == null
            ? 0
            : Objects.requireNonNullElse(status.getGpus(), List.<NodeGpu>of()).stream()
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
    return new Expectation(bytes, 0, DataPath.MOVER, true)
        .frozen(status == null ? null : status.getSelfTest());
  }

  private List<GpuCheckpoint> ofThisPod(Pod pod) {
    return cluster
        .checkpointsOf(pod.getMetadata().getNamespace(), pod.getMetadata().getName())
        .stream()
        .filter(it -> isOf(it, pod.getMetadata().getUid()))
        .toList();
  }

  private static boolean isOf(GpuCheckpoint checkpoint, String uid) {
    String wanted = checkpoint.getSpec().getPodUid();
    String seen =
        Optional.ofNullable(checkpoint.getStatus())
            .map(status -> status.getPod())
            .map(ObservedPod::uid)
            .orElse(wanted);
    return seen == null || uid.equals(seen);
  }

  private static boolean isAtWork(GpuCheckpoint checkpoint) {
    CheckpointPhase phase =
        checkpoint.getStatus() == null ? null : checkpoint.getStatus().getPhase();
    return !Boolean.TRUE.equals(checkpoint.getSpec().getExplainOnly())
        && (phase == null || (phase != CheckpointPhase.READY && !phase.isFinal()));
  }

  private static Optional<Instant> saved(GpuCheckpoint checkpoint) {
    List<PhaseTime<CheckpointPhase>> phases =
        checkpoint.getStatus() == null || checkpoint.getStatus().getPhases() == null
            ? List.of()
            : checkpoint.getStatus().getPhases();
    return checkpoint.getStatus() != null
            && checkpoint.getStatus().getPhase() == CheckpointPhase.READY
        ? phases.stream()
            .filter(entered -> entered.phase() == CheckpointPhase.FREEZING)
            .map(PhaseTime::time)
            .findFirst()
        : Optional.empty();
  }
}
