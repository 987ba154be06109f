package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
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
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Validates a GpuCheckpoint as far as possible without an agent. Has no effect. */
final class CheckpointValidator {

  /** The result. */
  sealed interface Result permits Admitted, ImportValidator.Admitted, Refused, Wait {}

  /**
   * The checkpoint can be attempted.
   *
   * @param node its node
   * @param store the store of the artifact; empty if none is written
   * @param maxFrozen the maximum freeze time; empty if it is unlimited
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
   * The checkpoint is impossible.
   *
   * @param faults every reason
   */
  record Refused(List<Fault> faults) implements Result {}

  /** The checkpoint is impossible for now. */
  record Wait(Reason reason, String message) implements Result {}

  private final StoreChoice choice = new StoreChoice();
  private final StoreRoom room = new StoreRoom();

  Result validate(CheckpointContext context, FreezeAttempt attempt) {
    SourcePod named =
        SourcePod.check(
            context.pod(),
            new SourcePod.Named(
                context.namespace(),
                context.spec().podName(),
                context.spec().podUid(),
                context.spec().getOptions().getContainerName()),
            context.config().gpuResources());
    if (named instanceof SourcePod.Refused refused) {
      return new Refused(refused.faults());
    }
    SourcePod.Found source = (SourcePod.Found) named;
    Pod pod = source.pod();
    String node = pod.getSpec().getNodeName();
    List<Fault> faults = new ArrayList<>();
    if (attempt.writes()) {
      source
          .refusedContainers(context.spec().getOptions().getSidecarPolicy())
          .ifPresent(faults::add);
    }
    owner(context, source).ifPresent(faults::add);
    // Only the agent knows the duration; it compares that with the maximum.
    LivenessVerdict liveness = liveness(context, pod, source.container(), Duration.ZERO);
    if (liveness instanceof LivenessVerdict.TooShort tooShort) {
      faults.addAll(tooShort.faults());
    }
    Optional<GpuCheckpointStore> store =
        attempt.writes() ? store(context, faults) : Optional.empty();
    if (!faults.isEmpty() && !context.spec().getOptions().getDryRun()) {
      return new Refused(faults);
    }
    Optional<Wait> agent = agent(context, node);
    if (agent.isPresent() && context.spec().getOptions().getDryRun()) {
      faults.add(
          Fault.misfit(
              agent.get().reason().value(),
              "agent of node " + node,
              "one that answers",
              agent.get().message()));
    } else if (agent.isPresent()) {
      return agent.get();
    }
    Optional<Wait> queued =
        new NamespaceLimit(context.config().checkpointsPerNamespace()).wait(context);
    if (queued.isPresent() && !context.spec().getOptions().getDryRun()) {
      // The store has other artifacts, and perhaps more room, when it is its turn.
      return queued.get();
    }
    if (store.isPresent()) {
      Optional<Wait> unseen = unseen(context, store.get(), node);
      if (unseen.isPresent() && !context.spec().getOptions().getDryRun()) {
        return unseen.get();
      }
      faults.addAll(room(context, store.get(), node, 0));
    }
    if (!faults.isEmpty()) {
      return new Refused(faults);
    }
    Optional<Duration> maxFrozen =
        liveness instanceof LivenessVerdict.Fits fits ? fits.maxFrozen() : Optional.empty();
    return queued
        .or(() -> busy(context, pod, node))
        .<Result>map(wait -> wait)
        .orElseGet(
            () -> new Admitted(pod, source.container(), node, store, maxFrozen, source.others()));
  }

  private Optional<GpuCheckpointStore> store(CheckpointContext context, List<Fault> faults) {
    StoreChoice.Choice chosen =
        choice.choose(
            context.spec().storeName(), context.namespaceObject(), context.cluster().stores());
    if (chosen instanceof StoreChoice.Refused refusal) {
      faults.add(refusal.fault());
    }
    return chosen instanceof StoreChoice.Chosen it ? Optional.of(it.store()) : Optional.empty();
  }

  /** Returns why the store has no room for an artifact of that size. */
  List<Fault> room(CheckpointContext context, GpuCheckpointStore store, String node, long bytes) {
    return room.against(facts(context, store, node, it -> true), context.namespace(), node, bytes);
  }

  /**
   * Returns the same once an agent has claimed the operation. Of two that run at once, only the one
   * that was claimed first counts for the other, so that they are not both canceled.
   */
  List<Fault> room(
      CheckpointContext context, GpuCheckpointStore store, OperationView view, long bytes) {
    String node = view.node();
    StoreFacts facts = facts(context, store, node, it -> isBefore(it, view));
    // An imported artifact is in the store already, so only the quota counts.
    return view.phase() == OperationPhase.CLAIMED && view.type() != OperationType.IMPORT
        ? room.against(facts, context.namespace(), node, bytes)
        : room.quota(facts, context.namespace(), bytes);
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
      CheckpointContext context,
      GpuCheckpointStore store,
      String node,
      Predicate<OperationView> counts) {
    String name = store.getMetadata().getName();
    List<GpuNodeOperation> making =
        context.cluster().operationsIn(name).stream()
            .filter(it -> !context.uid().equals(it.getSpec().getRequester().uid()))
            .filter(it -> counts.test(OperationView.of(it)))
            .toList();
    // Only a quota counts all artifacts, and a store may have thousands.
    Stream<GpuCheckpoint> artifacts =
        store.getSpec().getQuota() == null
            ? making.stream().flatMap(it -> writtenBy(context, it).stream()).distinct()
            : context.cluster().checkpointsIn(name).stream();
    return StoreFacts.of(
            store,
            context.cluster().gpuNode(node).map(List::of).orElse(List.of()),
            artifacts.filter(other -> !context.uid().equals(other.getMetadata().getUid())).toList())
        .with(making);
  }

  /** Returns the GpuCheckpoint whose artifact an operation writes. */
  private static Optional<GpuCheckpoint> writtenBy(
      CheckpointContext context, GpuNodeOperation operation) {
    return Optional.ofNullable(operation.getSpec().getArtifact())
        .flatMap(
            it ->
                context
                    .cluster()
                    .checkpoint(it.namespace(), operation.getSpec().getRequester().name()));
  }

  /** Returns whether probes and deadlines of the pod allow a freeze of that duration. */
  LivenessVerdict liveness(
      CheckpointContext context, Pod pod, String container, Duration expected) {
    return new Liveness(Clock.fixed(context.now(), ZoneOffset.UTC))
        .judge(
            new Liveness.Question(
                pod,
                container,
                expected,
                context.spec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND,
                context.spec().getOptions().getProbePolicy(),
                context.jobDeadline()));
  }

  private static Optional<Fault> owner(CheckpointContext context, SourcePod.Found source) {
    return context.spec().getAfterCheckpoint() != AfterCheckpoint.EVICT
        ? Optional.empty()
        : source
            .controller()
            .filter(owner -> !Owners.canHandOver(owner))
            .map(
                owner ->
                    Reason.OWNED_POD.misfit(
                        "afterCheckpoint Evict",
                        "a pod without a controller, or of a ReplicaSet, Job or StatefulSet",
                        "one of " + owner.getKind() + " " + owner.getName()));
  }

  static Optional<Wait> agent(CheckpointContext context, String node) {
    NodeAgent agent = context.agent(node);
    return agent
        .against()
        .map(
            message ->
                new Wait(
                    agent.isSilent() && context.cluster().gpuNode(node).isPresent()
                        ? Reason.NODE_SILENT
                        : Reason.WAITING_FOR_AGENT,
                    message));
  }

  /** Returns why the node cannot write to the store yet. */
  static Optional<Wait> unseen(CheckpointContext context, GpuCheckpointStore store, String node) {
    return StoreFacts.of(
            store, context.cluster().gpuNode(node).map(List::of).orElse(List.of()), List.of())
        .unseen(node)
        .map(why -> new Wait(Reason.STORE_NOT_WRITABLE, why));
  }

  private static Optional<Wait> busy(CheckpointContext context, Pod pod, String node) {
    Optional<String> inUse = new PodInUse(context.cluster()).byAnother(pod, context.uid());
    if (inUse.isPresent()) {
      return Optional.of(new Wait(Reason.ANOTHER_OPERATION, inUse.get()));
    }
    long making =
        context.cluster().operationsOf(node).stream()
            .map(OperationView::of)
            .filter(view -> !view.isFinal() && view.type() == OperationType.CHECKPOINT)
            .count();
    return making < context.config().checkpointsPerNode()
        ? Optional.empty()
        : Optional.of(
            new Wait(
                Reason.NODE_BUSY,
                "node %s: expected fewer than %d checkpoints in progress, got %d"
                    .formatted(node, context.config().checkpointsPerNode(), making)));
  }
}
