package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The work is done: keeps what is said true, and lets go in time. */
final class Resting {

  private final RoomReturn room;
  private final LeftFrozen leftFrozen;
  private final Places places;

  Resting(RoomReturn room, LeftFrozen leftFrozen, Places places) {
    this.room = room;
    this.leftFrozen = leftFrozen;
    this.places = places;
  }

  /** Phase Ready. */
  void ready(Turn turn) {
    over(turn);
    if (turn.status().getArtifact() == null) {
      return;
    }
    String node = turn.status().getArtifact().getNode();
    if (node != null && isLost(turn, node)) {
      turn.status().setNodesFit(0);
      turn.fail(
          Reason.ARTIFACT_LOST, "node " + node + " is gone, and the artifact on its disk with it");
      return;
    }
    places.update(turn);
    List<ObjectReference> users = users(turn);
    turn.status().setInUseBy(users.isEmpty() ? null : users);
    ttl(turn, users);
  }

  /** Any phase after which nothing is to be done. */
  void over(Turn turn) {
    for (OperationView view : turn.operations()) {
      forget(turn, view);
    }
    Conditions known =
        new Conditions(Objects.requireNonNullElse(turn.status().getConditions(), List.of()));
    if (known.find(ConditionType.ROOM_RETURNED).isPresent()
        && !known.isTrue(ConditionType.ROOM_RETURNED)) {
      room.next(turn);
    }
  }

  /** One that is not over though its object is: it is undone. */
  private void forget(Turn turn, OperationView view) {
    boolean goesOn = view.type() == OperationType.UPLOAD || view.type() == OperationType.VERIFY;
    if (goesOn && turn.phase() == CheckpointPhase.READY) {
      return;
    }
    if (view.isFinal()) {
      if (leftFrozen.isOver(turn, view)) {
        turn.act(new Act.Release(view));
      }
    } else if (turn.agent(view.operation().getSpec().getNodeName()).nodeGone()) {
      turn.act(new Act.Abandon(view));
    } else if (!view.isCancelled()) {
      turn.act(new Act.Cancel(view));
    }
  }

  /** Objects that need the artifact now. */
  static List<ObjectReference> users(Turn turn) {
    return restores(turn).stream()
        .filter(Resting::isAtWork)
        .map(
            restore ->
                new ObjectReference(
                    restore.getKind(),
                    turn.namespace(),
                    restore.getMetadata().getName(),
                    restore.getMetadata().getUid()))
        .toList();
  }

  private static boolean isAtWork(GpuRestore restore) {
    RestorePhase phase = restore.getStatus() == null ? null : restore.getStatus().getPhase();
    return phase != null && !phase.isFinal();
  }

  static List<GpuRestore> restores(Turn turn) {
    return turn.cluster().restoresOf(turn.namespace(), turn.object().getMetadata().getName());
  }

  /**
   * The disk of a node that is gone. A node that only registers itself anew is back at once; so it
   * is believed when the condition has said so for long enough.
   */
  private static boolean isLost(Turn turn, String node) {
    if (!turn.agent(node).nodeGone()) {
      return false;
    }
    Optional<Instant> since =
        new Conditions(Objects.requireNonNullElse(turn.status().getConditions(), List.of()))
            .find(ConditionType.RESTORABLE)
            .filter(condition -> condition.reason().equals(Reason.NO_NODE_FITS.value()))
            .map(condition -> condition.lastTransitionTime());
    Instant at = since.orElse(turn.now()).plus(turn.config().orphanAfter());
    turn.againAt(at);
    return !turn.now().isBefore(at);
  }

  private static void ttl(Turn turn, List<ObjectReference> users) {
    TimeSpan ttl = turn.spec().getTtlAfterReady();
    if (ttl == null) {
      return;
    }
    List<PhaseTime<CheckpointPhase>> phases =
        Objects.requireNonNullElse(turn.status().getPhases(), List.of());
    Instant ready =
        phases.stream()
            .filter(entered -> entered.phase() == CheckpointPhase.READY)
            .map(PhaseTime::time)
            .reduce((first, second) -> second)
            .orElse(turn.now());
    Instant end = ready.plus(ttl.duration());
    if (turn.now().isBefore(end)) {
      turn.againAt(end);
    } else if (users.isEmpty()) {
      turn.act(new Act.DeleteSelf());
    }
  }
}
