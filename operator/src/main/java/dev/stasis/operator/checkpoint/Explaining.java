package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.MemoryLimitPolicy;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.operator.explain.Expectation;
import dev.stasis.operator.explain.Explainer;
import dev.stasis.operator.liveness.Liveness;
import dev.stasis.operator.liveness.LivenessVerdict;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.room.NodeMemory;
import dev.stasis.operator.room.RoomFacts;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.room.RoomPlanner;
import dev.stasis.operator.status.ConditionType;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Says what a freeze would do, without doing it. */
final class Explaining {

  private final Explainer explainer = new Explainer();
  private final RoomPlanner planner = new RoomPlanner();
  private final Validation validation;
  private final Places places;

  Explaining(Validation validation, Places places) {
    this.validation = validation;
    this.places = places;
  }

  /** The agent was not asked: what is known stands against it already. */
  void withoutAgent(Turn turn, List<Fault> faults) {
    write(
        turn,
        new Explainer.Findings(
            Optional.empty(),
            faults,
            Duration.ZERO,
            new LivenessVerdict.Fits(Optional.empty(), List.of()),
            new RoomPlan.NoResizeNeeded(),
            places.of(turn)));
    // Nobody knows how long it would take, nor what the workload needs of a place.
    turn.status()
        .setExplanation(
            new Explanation(List.copyOf(faults), null, null, null, null, null, null, null));
    turn.status().setNodesFit(null);
    turn.status().setNodesKnown(null);
    turn.status().setNodes(null);
    turn.report().drop(ConditionType.RESTORABLE);
  }

  /** The agent has looked. */
  void next(Turn turn, OperationView view) {
    Explanation found =
        Objects.requireNonNullElseGet(
            view.status().getExplanation(),
            () -> new Explanation(view.faults(), null, null, null, null, null, null, null));
    turn.status().setOtherContainers(view.status().getOtherContainers());
    Duration frozen = expected(turn, view, found);
    List<Fault> faults = new ArrayList<>();
    LivenessVerdict liveness = new LivenessVerdict.Fits(Optional.empty(), List.of());
    RoomPlan room = new RoomPlan.NoResizeNeeded();
    if (turn.pod().isPresent() && turn.status().getPod() != null) {
      String container = Objects.requireNonNullElse(turn.status().getPod().container(), "");
      liveness = liveness(turn, container, frozen);
      room = room(turn, view, container);
    }
    Long bytes = found.expectedBytes();
    storeOf(view)
        .flatMap(turn.cluster()::store)
        .ifPresent(
            store ->
                faults.addAll(
                    validation.room(
                        turn,
                        store,
                        view.operation().getSpec().getNodeName(),
                        bytes == null ? 0 : bytes)));
    write(
        turn,
        new Explainer.Findings(
            Optional.of(found), faults, frozen, liveness, room, places.of(turn)));
  }

  private void write(Turn turn, Explainer.Findings findings) {
    turn.enter(CheckpointPhase.EXPLAINED);
    explainer.write(findings, turn.status(), turn.report());
  }

  private static Optional<String> storeOf(OperationView view) {
    return Optional.ofNullable(view.operation().getSpec().getArtifact()).map(it -> it.store());
  }

  private static LivenessVerdict liveness(Turn turn, String container, Duration frozen) {
    return new Liveness(Clock.fixed(turn.now(), ZoneOffset.UTC))
        .judge(
            new Liveness.Question(
                turn.pod().orElseThrow(),
                container,
                frozen,
                turn.spec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND,
                turn.spec().getOptions().getProbePolicy(),
                turn.jobDeadline()));
  }

  private RoomPlan room(Turn turn, OperationView view, String container) {
    Room room = view.status().getRoom();
    Optional<Node> node = turn.cluster().node(view.operation().getSpec().getNodeName());
    if (room == null || room.neededBytes() == null || node.isEmpty()) {
      return new RoomPlan.NoResizeNeeded();
    }
    MemoryLimitPolicy policy = turn.spec().getOptions().getMemoryLimitPolicy();
    return planner.plan(
        new RoomFacts(
            turn.pod().orElseThrow(),
            container,
            new RoomFacts.Need(room.usedBytes() == null ? 0 : room.usedBytes(), room.neededBytes()),
            policy,
            NodeMemory.of(
                node.get(),
                turn.cluster().podsOn(node.get().getMetadata().getName()),
                Objects.requireNonNullElse(room.nodeFreeBytes(), Long.MAX_VALUE)),
            turn.cluster().quotas(turn.namespace()),
            turn.cluster().ranges(turn.namespace())));
  }

  private static Duration expected(Turn turn, OperationView view, Explanation found) {
    if (found.expectedFrozenMilliseconds() != null) {
      return Duration.ofMillis(found.expectedFrozenMilliseconds());
    }
    long bytes = found.expectedBytes() == null ? 0 : found.expectedBytes();
    DataPath path = Objects.requireNonNullElse(found.dataPath(), DataPath.CRIU);
    return new Expectation(bytes, 0, path, Frozen.next(turn).writes())
        .frozen(
            turn.cluster()
                .gpuNode(view.operation().getSpec().getNodeName())
                .map(node -> node.getStatus())
                .map(GpuNodeStatus::getSelfTest)
                .orElse(null));
  }
}
