package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A workload stays in the memory of its node, until somebody wants it back. */
final class Suspension {

  private final Orders orders;
  private final RoomReturn room;

  Suspension(Orders orders, RoomReturn room) {
    this.orders = orders;
    this.room = room;
  }

  /** Phase Suspended. */
  void rest(Turn turn) {
    Frozen last = Frozen.last(turn);
    if (isLost(turn, last)) {
      return;
    }
    Optional<OperationView> failed = resume(turn, last);
    if (failed.isPresent() && failed.get().isFinal()) {
      turn.act(new Act.Release(failed.get()));
      turn.again(turn.config().progressEvery());
      return;
    }
    TimeSliceScheduler taking = new TimeSliceScheduler(turn);
    if (taking.isOn() ? !taking.verdict().runs() : turn.wantsSuspended()) {
      turn.report()
          .also(ConditionType.SUSPENDED, ConditionValue.TRUE, Reason.SUSPENDED, where(turn));
      turn.mark(
          PodConditionUpdate.frozen(
              Reason.SUSPENDED.value(),
              "suspended by GpuCheckpoint " + turn.object().getMetadata().getName()));
      if (taking.isOn()) {
        taking.waiting();
      }
      return;
    }
    Instant notBefore = notBefore(turn);
    if (turn.now().isBefore(notBefore)) {
      turn.againAt(notBefore);
      return;
    }
    turn.enter(CheckpointPhase.RESUMING);
    turn.working(Reason.IN_PROGRESS, "is being resumed");
    order(turn, last);
  }

  /** Phase Resuming, after a suspension. */
  void resuming(Turn turn) {
    Frozen last = Frozen.last(turn);
    if (isLost(turn, last)) {
      return;
    }
    Optional<OperationView> resume = resume(turn, last);
    if (resume.isEmpty()) {
      order(turn, last);
    } else if (!resume.get().isFinal()) {
      working(turn, resume.get());
    } else if (resume.get().succeeded()) {
      resumed(turn, resume.get());
    } else {
      failed(turn, resume.get());
    }
  }

  /** Nobody wants it suspended, and it is not. */
  static void idle(Turn turn) {
    if (turn.status().getPhase() == null) {
      turn.enter(CheckpointPhase.PENDING);
    }
    if (Frozen.suspensions(turn) == 0) {
      turn.working(Reason.NOT_SUSPENDED, "spec.desiredState is Running");
    } else {
      turn.report().rests(Reason.RESUMED, "resumed; spec.desiredState is Running");
      new TimeSliceScheduler(turn).running();
    }
  }

  private void order(Turn turn, Frozen last) {
    turn.act(new Act.Create(orders.of(turn, OperationType.RESUME, last)));
    turn.again(turn.config().lookAgainEvery());
  }

  private static void working(Turn turn, OperationView view) {
    NodeAgent agent = turn.agent(view.operation().getSpec().getNodeName());
    Optional<String> against = agent.against();
    turn.working(
        against.isPresent() ? Reason.NODE_SILENT : Reason.IN_PROGRESS,
        against.orElse("is being resumed"));
    against.ifPresent(it -> turn.tell(true, Reason.NODE_SILENT, it, "silent/" + view.name()));
    turn.again(turn.config().lookAgainEvery());
  }

  private void resumed(Turn turn, OperationView view) {
    Duration time = Duration.between(since(turn), turn.now());
    String sentence = "resumed after " + time.toSeconds() + "s";
    turn.report()
        .also(ConditionType.SUSPENDED, ConditionValue.FALSE, Reason.RESUMED, sentence)
        .also(
            ConditionType.SOURCE_RUNNING,
            Objects.requireNonNullElse(view.status().getSourceRunning(), ConditionValue.TRUE),
            Reason.RESUMED,
            sentence);
    turn.status().setSuspendedTime(null);
    turn.status().setFaults(null);
    timed(turn, view);
    new TimeSliceScheduler(turn).restart();
    if (turn.status().getArtifact() == null) {
      turn.enter(CheckpointPhase.PENDING);
      turn.report().rests(Reason.RESUMED, sentence);
    } else {
      turn.enter(CheckpointPhase.READY);
      turn.report().done(Reason.ARTIFACT_VERIFIED, Ending.artifact(turn));
    }
    turn.mark(PodConditionUpdate.notFrozen(Reason.RESUMED.value(), sentence));
    turn.tell(false, Reason.RESUMED, sentence, "resumed/" + Frozen.suspensions(turn));
    turn.again(turn.config().progressEvery());
    room.next(turn);
  }

  /** How long the way back took, beside how long the freeze did. */
  private static void timed(Turn turn, OperationView view) {
    CheckpointTimings said = view.status().getTimings();
    if (said != null && said.getResumeMilliseconds() != null) {
      CheckpointTimings all =
          Objects.requireNonNullElseGet(turn.status().getTimings(), CheckpointTimings::new);
      all.setResumeMilliseconds(said.getResumeMilliseconds());
      turn.status().setTimings(all);
    }
  }

  private static void failed(Turn turn, OperationView view) {
    String why = Objects.requireNonNullElse(view.status().getMessage(), "it could not be resumed");
    turn.status()
        .setFaults(
            view.faults().isEmpty()
                ? List.of(Reasons.fault(Reason.OPERATION_FAILED, "resume", "that it goes on", why))
                : view.faults());
    // Who shares its GPUs by turns lets the next one go.
    new TimeSliceScheduler(turn).restart();
    if (view.workload() == WorkloadState.ENDED) {
      lost(turn, why);
      return;
    }
    turn.enter(CheckpointPhase.SUSPENDED);
    turn.report().notReached(Reason.OPERATION_FAILED, "still suspended: " + why);
    if (turn.status().getArtifact() != null) {
      turn.report().done(Reason.ARTIFACT_VERIFIED, Ending.artifact(turn));
    }
    turn.tell(
        true,
        Reason.OPERATION_FAILED,
        "still suspended: " + why,
        "resume/" + view.operation().getMetadata().getUid());
    turn.again(turn.config().progressEvery());
  }

  /** What was in memory is gone with the node, its boot, or the pod. */
  private static boolean isLost(Turn turn, Frozen last) {
    String node = turn.node().orElse("");
    NodeAgent agent = turn.agent(node);
    if (agent.nodeGone()) {
      lost(turn, "node " + node + " is gone, and the suspended workload with it");
      return true;
    }
    if (turn.pod().isEmpty()) {
      lost(turn, "the pod was deleted while its workload was suspended");
      return true;
    }
    String container = containerOf(turn);
    String frozen = last.operation(turn).map(it -> it.status().getContainerId()).orElse(null);
    if (container != null && frozen != null && !container.endsWith(frozen)) {
      lost(turn, "its container restarted while the workload was suspended");
      return true;
    }
    String now =
        turn.cluster()
            .gpuNode(node)
            .map(GpuNode::getStatus)
            .map(GpuNodeStatus::getHost)
            .map(NodeHost::getBootId)
            .orElse(null);
    String then = bootId(last.operation(turn));
    if (now != null && then != null && !now.equals(then)) {
      lost(turn, "node " + node + " restarted while the workload was suspended");
      return true;
    }
    return false;
  }

  /** Id of the container that runs now, as {@code containerd://ID}. */
  private static @Nullable String containerOf(Turn turn) {
    ObservedPod pod = turn.status().getPod();
    String name = pod == null ? null : pod.container();
    return turn.pod().stream()
        .filter(it -> it.getStatus() != null)
        .flatMap(it -> it.getStatus().getContainerStatuses().stream())
        .filter(status -> status.getName().equals(name))
        .map(ContainerStatus::getContainerID)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  private static @Nullable String bootId(Optional<OperationView> view) {
    Claim claim = view.map(it -> it.status().getClaimedBy()).orElse(null);
    return claim == null ? null : claim.bootId();
  }

  private static void lost(Turn turn, String sentence) {
    turn.report()
        .also(ConditionType.SUSPENDED, ConditionValue.FALSE, Reason.WORKLOAD_LOST, sentence)
        .also(ConditionType.SOURCE_RUNNING, ConditionValue.FALSE, Reason.WORKLOAD_LOST, sentence);
    turn.status().setSuspendedTime(null);
    if (turn.status().getArtifact() != null) {
      turn.enter(CheckpointPhase.READY);
      turn.report().done(Reason.ARTIFACT_VERIFIED, Ending.artifact(turn));
      turn.tell(true, Reason.WORKLOAD_LOST, sentence, "lost");
    } else {
      turn.fail(Reason.WORKLOAD_LOST, sentence);
    }
    turn.mark(PodConditionUpdate.notFrozen(Reason.WORKLOAD_LOST.value(), sentence));
  }

  private static Optional<OperationView> resume(Turn turn, Frozen last) {
    return Frozen.operation(turn, OperationType.RESUME, last.number());
  }

  /** A resume that failed is not tried again at once. */
  private static Instant notBefore(Turn turn) {
    boolean failed = turn.status().getFaults() != null;
    List<PhaseTime<CheckpointPhase>> phases =
        Objects.requireNonNullElse(turn.status().getPhases(), List.of());
    if (!failed || phases.isEmpty()) {
      return turn.now();
    }
    Instant entered = phases.get(phases.size() - 1).time();
    return entered.plus(turn.config().lookAgainEvery());
  }

  private static Instant since(Turn turn) {
    return Objects.requireNonNullElse(turn.status().getSuspendedTime(), turn.now());
  }

  private static String where(Turn turn) {
    return "in the memory of node " + turn.node().orElse("unknown");
  }
}
