package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.liveness.Liveness;
import dev.stasis.operator.liveness.LivenessVerdict;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.PodInUse;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.SourcePod;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.store.StoreChoice;
import dev.stasis.operator.store.StoreFacts;
import dev.stasis.operator.store.StoreRoom;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Looks at everything that can be known before an agent is asked. Nothing is touched. */
final class Validation {

  /** What came of it. */
  sealed interface Result {}

  /**
   * It can be tried.
   *
   * @param pod the pod
   * @param container the container
   * @param node its node
   * @param store where the artifact goes; empty: none is written
   * @param maxFrozen how long the workload may stand still; empty: as long as it takes
   * @param others the pod's other containers
   */
  record Admitted(
      Pod pod,
      String container,
      String node,
      Optional<GpuCheckpointStore> store,
      Optional<Duration> maxFrozen,
      List<String> others)
      implements Result {}

  /**
   * It cannot be done.
   *
   * @param faults every reason
   */
  record Refused(List<Fault> faults) implements Result {}

  /** It cannot be done now. */
  record Wait(Reason reason, String sentence) implements Result {}

  private final StoreChoice choice = new StoreChoice();
  private final StoreRoom room = new StoreRoom();
  private final NamespaceLimit limit = new NamespaceLimit();

  Result validate(Turn turn, Frozen frozen) {
    SourcePod named =
        SourcePod.check(
            turn.pod(),
            new SourcePod.Named(
                turn.namespace(),
                turn.spec().podName(),
                turn.spec().podUid(),
                turn.spec().getOptions().getContainerName()),
            turn.config().gpuResources());
    if (named instanceof SourcePod.Refused refused) {
      return new Refused(refused.faults());
    }
    SourcePod.Found source = (SourcePod.Found) named;
    Pod pod = source.pod();
    String node = pod.getSpec().getNodeName();
    List<Fault> faults = new ArrayList<>();
    if (frozen.writes()) {
      source.refusedContainers(turn.spec().getOptions().getSidecarPolicy()).ifPresent(faults::add);
    }
    owner(turn, source).ifPresent(faults::add);
    LivenessVerdict liveness = liveness(turn, pod, source.container());
    if (liveness instanceof LivenessVerdict.TooShort tooShort) {
      faults.addAll(tooShort.faults());
    }
    Optional<GpuCheckpointStore> store = frozen.writes() ? store(turn, faults) : Optional.empty();
    if (!faults.isEmpty() && !turn.spec().getOptions().getDryRun()) {
      return new Refused(faults);
    }
    Optional<Wait> agent = agent(turn, node);
    if (agent.isPresent() && turn.spec().getOptions().getDryRun()) {
      faults.add(
          Reasons.fault(
              agent.get().reason(),
              "agent of node " + node,
              "one that answers",
              agent.get().sentence()));
    } else if (agent.isPresent()) {
      return agent.get();
    }
    if (store.isPresent()) {
      Optional<Wait> unseen = unseen(turn, store.get(), node);
      if (unseen.isPresent() && !turn.spec().getOptions().getDryRun()) {
        return unseen.get();
      }
      faults.addAll(room(turn, store.get(), node, 0));
    }
    if (!faults.isEmpty()) {
      return new Refused(faults);
    }
    Optional<Duration> maxFrozen =
        liveness instanceof LivenessVerdict.Fits fits ? fits.maxFrozen() : Optional.empty();
    return limit
        .wait(turn)
        .or(() -> busy(turn, pod, node))
        .<Result>map(wait -> wait)
        .orElseGet(
            () -> new Admitted(pod, source.container(), node, store, maxFrozen, source.others()));
  }

  private Optional<GpuCheckpointStore> store(Turn turn, List<Fault> faults) {
    StoreChoice.Choice chosen =
        choice.choose(turn.spec().storeName(), namespace(turn), turn.cluster().stores());
    if (chosen instanceof StoreChoice.Refused refusal) {
      faults.add(refusal.fault());
    }
    return chosen instanceof StoreChoice.Chosen it ? Optional.of(it.store()) : Optional.empty();
  }

  /** What stands against an artifact of that size in the store. */
  List<Fault> room(Turn turn, GpuCheckpointStore store, String node, long bytes) {
    return room.against(facts(turn, store, node, it -> true), turn.namespace(), node, bytes);
  }

  /**
   * The same once the agent has it in hand. Of two that are in the making at once the one counts
   * for the other that was claimed first, so that they are not both given up.
   */
  List<Fault> room(Turn turn, GpuCheckpointStore store, OperationView view, long bytes) {
    String node = view.operation().getSpec().getNodeName();
    StoreFacts facts = facts(turn, store, node, it -> isBefore(it, view));
    // What is imported lies there already: only what the namespace may hold counts.
    return view.phase() == OperationPhase.CLAIMED && view.type() != OperationType.IMPORT
        ? room.against(facts, turn.namespace(), node, bytes)
        : room.quota(facts, turn.namespace(), bytes);
  }

  private static boolean isBefore(OperationView one, OperationView other) {
    Claim first = one.status().getClaimedBy();
    Claim second = other.status().getClaimedBy();
    if (first == null || second == null || first.time().equals(second.time())) {
      return first != null && (second == null || one.name().compareTo(other.name()) < 0);
    }
    return first.time().isBefore(second.time());
  }

  private static StoreFacts facts(
      Turn turn, GpuCheckpointStore store, String node, Predicate<OperationView> counts) {
    String name = store.getMetadata().getName();
    List<GpuNodeOperation> making =
        turn.cluster().operationsIn(name).stream()
            .filter(it -> !turn.uid().equals(it.getSpec().getRequester().uid()))
            .filter(it -> counts.test(OperationView.of(it)))
            .toList();
    return StoreFacts.of(
            store,
            turn.cluster().gpuNode(node).map(List::of).orElse(List.of()),
            turn.cluster().checkpointsIn(name).stream()
                .filter(other -> !turn.uid().equals(other.getMetadata().getUid()))
                .toList())
        .with(making);
  }

  /** What watches the pod, and how long it lets the workload stand still. */
  LivenessVerdict liveness(Turn turn, Pod pod, String container) {
    // How long it will take only the agent can say; it compares that with what is allowed.
    return new Liveness(Clock.fixed(turn.now(), ZoneOffset.UTC))
        .judge(
            new Liveness.Question(
                pod,
                container,
                Duration.ZERO,
                turn.spec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND,
                turn.spec().getOptions().getProbePolicy(),
                turn.jobDeadline()));
  }

  private static Optional<Fault> owner(Turn turn, SourcePod.Found source) {
    return turn.spec().getAfterCheckpoint() != AfterCheckpoint.EVICT
        ? Optional.empty()
        : source
            .controller()
            .filter(owner -> !Owners.canHandOver(owner))
            .map(
                owner ->
                    Reasons.fault(
                        Reason.OWNED_POD,
                        "afterCheckpoint Evict",
                        "a pod without a controller, or of a ReplicaSet, Job or StatefulSet",
                        "one of " + owner.getKind() + " " + owner.getName()));
  }

  static Namespace namespace(Turn turn) {
    return turn.cluster()
        .namespace(turn.namespace())
        .orElseGet(
            () ->
                new NamespaceBuilder()
                    .withNewMetadata()
                    .withName(turn.namespace())
                    .endMetadata()
                    .build());
  }

  static Optional<Wait> agent(Turn turn, String node) {
    NodeAgent agent = turn.agent(node);
    return agent
        .against()
        .map(
            sentence ->
                new Wait(
                    agent.isSilent() && turn.cluster().gpuNode(node).isPresent()
                        ? Reason.NODE_SILENT
                        : Reason.WAITING_FOR_AGENT,
                    sentence));
  }

  /** An agent sees a new store a moment later. */
  static Optional<Wait> unseen(Turn turn, GpuCheckpointStore store, String node) {
    boolean seen =
        StoreFacts.of(
                store, turn.cluster().gpuNode(node).map(List::of).orElse(List.of()), List.of())
            .from(node)
            .isPresent();
    return seen
        ? Optional.empty()
        : Optional.of(
            new Wait(
                Reason.STORE_NOT_WRITABLE,
                "store %s: expected one that node %s can write to, got nothing said of it yet"
                    .formatted(store.getMetadata().getName(), node)));
  }

  private static Optional<Wait> busy(Turn turn, Pod pod, String node) {
    Optional<String> inUse = new PodInUse(turn.cluster()).byAnother(pod, turn.uid());
    if (inUse.isPresent()) {
      return Optional.of(new Wait(Reason.ANOTHER_OPERATION, inUse.get()));
    }
    long making =
        turn.cluster().operationsOf(node).stream()
            .map(OperationView::of)
            .filter(view -> !view.isFinal() && view.type() == OperationType.CHECKPOINT)
            .count();
    return making < turn.config().checkpointsPerNode()
        ? Optional.empty()
        : Optional.of(
            new Wait(
                Reason.NODE_BUSY,
                "node %s: expected fewer than %d checkpoints in the making, got %d"
                    .formatted(node, turn.config().checkpointsPerNode(), making)));
  }
}
