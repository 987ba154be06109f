package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.DeletionPolicy;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The object is deleted: undoes what is at work, resumes, deletes the artifact, then lets go. */
final class Farewell {

  private final Orders orders;
  private final Holding holding;
  private final RoomReturn room;
  private final LeftFrozen leftFrozen;

  Farewell(Orders orders, Holding holding, RoomReturn room, LeftFrozen leftFrozen) {
    this.orders = orders;
    this.holding = holding;
    this.room = room;
    this.leftFrozen = leftFrozen;
  }

  void next(Turn turn) {
    // What is waited for tells of itself; what falls silent does not.
    turn.again(turn.config().lookAgainEvery());
    List<OperationView> all = turn.operations();
    all.stream()
        .filter(Farewell::isFreeze)
        .max(Comparator.comparingInt(Farewell::number))
        .ifPresent(view -> Following.takeOver(turn, view));
    List<OperationView> open = all.stream().filter(view -> !view.isFinal()).toList();
    if (!open.isEmpty()) {
      open.forEach(view -> end(turn, view));
      return;
    }
    Optional<OperationView> left = all.stream().filter(OperationView::isLeftFrozen).findFirst();
    if (left.isPresent()) {
      if (leftFrozen.isWaitedFor(turn, left.get(), deleted(turn))) {
        return;
      }
    } else if (isAwake(turn, all)) {
      turn.mark(
          PodConditionUpdate.notFrozen(Reason.RESUMED.value(), "the GpuCheckpoint is deleted"));
    } else {
      return;
    }
    room.next(turn);
    if (isArtifactDealtWith(turn, all)) {
      all.forEach(view -> turn.act(new Act.Release(view)));
      turn.letGo();
    }
  }

  private static boolean isFreeze(OperationView view) {
    return view.type() == OperationType.CHECKPOINT || view.type() == OperationType.SUSPEND;
  }

  private static int number(OperationView view) {
    return Integer.parseInt(view.name().substring(view.name().lastIndexOf('-') + 1));
  }

  /** Cancels what is at work; what brings a workload back is waited for. */
  private void end(Turn turn, OperationView view) {
    NodeAgent agent = turn.agent(view.operation().getSpec().getNodeName());
    if (agent.isGivenUp(deleted(turn), turn.config().orphanAfter(), turn.now())) {
      turn.act(new Act.Abandon(view));
      givenUp(turn, agent, "operation " + view.name());
      turn.again(turn.config().progressEvery());
    } else if (!isFreeze(view)
        && view.type() != OperationType.IMPORT
        && view.type() != OperationType.UPLOAD
        && view.type() != OperationType.VERIFY) {
      return;
    } else if (!view.isClaimed()) {
      turn.act(new Act.Withdraw(view));
      turn.again(turn.config().progressEvery());
    } else if (view.phase() == OperationPhase.HELD) {
      holding.next(turn, new Frozen(view.type(), number(view), true), view);
    } else if (!view.isCancelled()) {
      turn.act(new Act.Cancel(view));
      turn.tell(false, Reason.CANCELLED, "deleted while at work: is being undone", "undone");
    }
  }

  /** Whether nothing of it is suspended any more. */
  private boolean isAwake(Turn turn, List<OperationView> all) {
    Optional<OperationView> left =
        all.stream()
            .filter(view -> isFreeze(view) && view.workload() == WorkloadState.SUSPENDED)
            .max(Comparator.comparingInt(Farewell::number));
    if (left.isEmpty() || turn.pod().isEmpty()) {
      return true;
    }
    NodeAgent agent = turn.agent(left.get().operation().getSpec().getNodeName());
    if (agent.isGivenUp(deleted(turn), turn.config().orphanAfter(), turn.now())) {
      givenUp(turn, agent, "the suspended workload");
      return true;
    }
    int number = number(left.get());
    Optional<OperationView> resume = Frozen.operation(turn, OperationType.RESUME, number);
    TimeSliceScheduler taking = new TimeSliceScheduler(turn);
    if (resume.isEmpty() && taking.isOn() && !taking.verdict().runs()) {
      turn.tell(
          false,
          Reason.WAITS_FOR_ITS_TURN,
          "deleted while suspended: is resumed once its GPU is free",
          "turn");
      return false;
    }
    if (resume.isEmpty()) {
      Frozen suspended = new Frozen(left.get().type(), number, true);
      turn.act(new Act.Create(orders.of(turn, OperationType.RESUME, suspended)));
      turn.tell(false, Reason.IN_PROGRESS, "deleted while suspended: is resumed first", "resumed");
      return false;
    }
    if (resume.get().succeeded() || resume.get().workload() == WorkloadState.ENDED) {
      return true;
    }
    String why = Objects.requireNonNullElse(resume.get().status().getMessage(), "it failed");
    turn.tell(true, Reason.OPERATION_FAILED, "could not be resumed: " + why, resume.get().name());
    turn.retry(resume.get(), deleted(turn));
    return false;
  }

  /** Whether the artifact is deleted, stays by intention, or is out of reach. */
  private boolean isArtifactDealtWith(Turn turn, List<OperationView> all) {
    ArtifactStatus artifact = artifact(turn, all);
    if (artifact == null || artifact.getStore() == null) {
      return true;
    }
    List<ObjectReference> users = Resting.users(turn);
    if (!users.isEmpty()) {
      ObjectReference user = users.get(0);
      turn.tell(
          false,
          Reason.IN_USE,
          "the artifact is needed by %s %s: deleted once that is done"
              .formatted(user.kind(), user.name()),
          "in-use/" + user.uid());
      return false;
    }
    if (isKept(turn, all)) {
      turn.tell(
          false,
          Reason.ARTIFACT_RETAINED,
          "the artifact stays at %s in store %s"
              .formatted(artifact.getLocation(), artifact.getStore()),
          "retained");
      return true;
    }
    Optional<OperationView> given = Frozen.operation(turn, OperationType.DELETE_ARTIFACT, 1);
    if (given.isPresent() && given.get().succeeded()) {
      turn.tell(false, Reason.ARTIFACT_DELETED, "the artifact is deleted", "deleted");
      return true;
    }
    if (given.isPresent()) {
      return stays(turn, artifact, given.get());
    }
    Optional<String> node = reaching(turn, artifact);
    if (node.isPresent()) {
      turn.act(new Act.Create(orders.delete(turn, artifact, node.get())));
      return false;
    }
    return isOrphaned(turn, artifact);
  }

  /** It could not be deleted: tries again, and lets the object go without it in the end. */
  private static boolean stays(Turn turn, ArtifactStatus artifact, OperationView failed) {
    String why =
        "the artifact stays at %s in store %s: %s"
            .formatted(
                artifact.getLocation(),
                artifact.getStore(),
                Objects.requireNonNullElse(failed.status().getMessage(), "it failed"));
    if (isLate(turn)) {
      turn.tell(true, Reason.RELEASED, why, "released");
      return true;
    }
    turn.report().working(Reason.OPERATION_FAILED, why);
    turn.tell(true, Reason.OPERATION_FAILED, why, "delete");
    turn.retry(failed, deleted(turn));
    return false;
  }

  private static @Nullable ArtifactStatus artifact(Turn turn, List<OperationView> all) {
    return all.stream()
        .filter(Farewell::isFreeze)
        .flatMap(view -> view.artifact().stream())
        .findFirst()
        .filter(said -> turn.status().getArtifact() == null)
        .orElse(turn.status().getArtifact());
  }

  /** By its policy; and the only copy of an evicted workload in any case. */
  private static boolean isKept(Turn turn, List<OperationView> all) {
    boolean evicted =
        all.stream().anyMatch(view -> isFreeze(view) && view.workload() == WorkloadState.ENDED)
            || new Conditions(Objects.requireNonNullElse(turn.status().getConditions(), List.of()))
                .find(ConditionType.SOURCE_RUNNING)
                .filter(condition -> condition.reason().equals(Reason.EVICTED.value()))
                .isPresent();
    boolean restored =
        Resting.restores(turn).stream()
            .anyMatch(
                restore ->
                    restore.getStatus() != null
                        && restore.getStatus().getPhase() == RestorePhase.SUCCEEDED);
    return turn.spec().getOptions().getDeletionPolicy() == DeletionPolicy.RETAIN
        || (evicted && !restored);
  }

  /** A node whose agent can delete or read it now. */
  static Optional<String> reaching(Turn turn, ArtifactStatus artifact) {
    if (artifact.getNode() != null) {
      return Optional.of(artifact.getNode()).filter(node -> turn.agent(node).against().isEmpty());
    }
    return turn.cluster().gpuNodes().stream()
        .filter(node -> sees(node, artifact.getStore()))
        .map(node -> node.getMetadata().getName())
        // The node of the pod may have a copy of its own: it is deleted too, and repairs the other.
        .sorted(
            Comparator.comparing((String node) -> !turn.node().equals(Optional.of(node)))
                .thenComparing(Comparator.naturalOrder()))
        .filter(node -> turn.agent(node).against().isEmpty())
        .findFirst();
  }

  private static boolean sees(GpuNode node, @Nullable String store) {
    return node.getStatus() != null
        && node.getStatus().getStores() != null
        && node.getStatus().getStores().stream()
            .anyMatch(seen -> seen.name().equals(store) && Boolean.TRUE.equals(seen.writable()));
  }

  private static boolean isOrphaned(Turn turn, ArtifactStatus artifact) {
    if (artifact.getNode() == null) {
      if (isLate(turn)) {
        turn.tell(true, Reason.RELEASED, "no agent reaches the artifact", "released");
      }
      return isLate(turn);
    }
    NodeAgent agent = turn.agent(artifact.getNode());
    if (agent.isGivenUp(deleted(turn), turn.config().orphanAfter(), turn.now())) {
      givenUp(turn, agent, "the artifact");
      return true;
    }
    return false;
  }

  private static void givenUp(Turn turn, NodeAgent agent, String what) {
    String why =
        agent.nodeGone()
            ? "node " + agent.node() + " is gone"
            : agent.against().orElse("its agent is silent");
    turn.tell(true, Reason.RELEASED, what + " is released: " + why, "released/" + what);
  }

  private static Instant deleted(Turn turn) {
    return Instant.parse(
        Objects.requireNonNull(turn.object().getMetadata().getDeletionTimestamp(), "it is"));
  }

  private static boolean isLate(Turn turn) {
    return deleted(turn).plus(turn.config().orphanAfter()).isBefore(turn.now());
  }
}
