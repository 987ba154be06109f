package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.common.AfterCheckpoint;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Comparator;
import java.util.Optional;

/** What is next, by where the object is. */
final class Course {

  private final Beginning beginning;
  private final Following following;
  private final Ending ending;
  private final Suspension suspension;
  private final Resting resting;
  private final Farewell farewell;
  private final Importing importing;
  private final Unexpanded unexpanded;

  Course(Operations operations, KubernetesSerialization serialization) {
    Orders orders = new Orders(operations);
    Template template = new Template(serialization);
    Places places = new Places();
    RoomReturn room = new RoomReturn(template);
    Validation validation = new Validation();
    Holding holding = new Holding(orders);
    Explaining explaining = new Explaining(validation, places);
    this.beginning = new Beginning(validation, orders, template, explaining);
    this.following = new Following(new RoomTalk(), holding, validation);
    Onward onward = new Onward(room, template);
    LeftFrozen leftFrozen = new LeftFrozen(onward);
    this.ending = new Ending(onward, leftFrozen, explaining, places);
    this.suspension = new Suspension(orders, room);
    this.resting = new Resting(room, leftFrozen, places);
    this.importing =
        new Importing(new ImportCheck(validation), orders, places, new ImportedPod(template));
    this.farewell = new Farewell(orders, holding, room, leftFrozen);
    this.unexpanded = new Unexpanded(template);
  }

  void next(Turn turn) {
    course(turn);
    unexpanded.write(turn.status());
  }

  private void course(Turn turn) {
    if (turn.isDeleted()) {
      farewell.next(turn);
      return;
    }
    CheckpointPhase phase = turn.phase();
    if (phase.isFinal() || turn.spec().getTurnSlice() == null) {
      turn.status().setTurn(null);
    }
    if (phase.isFinal()) {
      resting.over(turn);
    } else if (turn.isImport() && phase == CheckpointPhase.READY) {
      resting.ready(turn);
    } else if (turn.isImport()) {
      importing.next(turn);
    } else if (phase == CheckpointPhase.SUSPENDED) {
      suspension.rest(turn);
    } else if (phase == CheckpointPhase.RESUMING && turn.isSuspended()) {
      suspension.resuming(turn);
    } else {
      free(turn, phase);
    }
  }

  /** It is not suspended: freezes it, or rests. */
  private void free(Turn turn, CheckpointPhase phase) {
    Frozen frozen = Frozen.next(turn);
    Optional<OperationView> view = frozen.operation(turn);
    boolean suspends =
        turn.spec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND
            && !turn.spec().getExplainOnly();
    if (view.isPresent() && (phase != CheckpointPhase.READY || suspends)) {
      if (view.get().isFinal()) {
        ending.next(turn, frozen, view.get());
      } else {
        following.next(turn, frozen, view.get());
      }
    } else if (phase == CheckpointPhase.READY && !turn.wantsSuspended()) {
      resting.ready(turn);
      new TurnTaking(turn).running();
    } else if (phase == CheckpointPhase.PENDING || phase == CheckpointPhase.READY) {
      begin(turn, suspends);
    } else {
      vanished(turn);
    }
  }

  private void begin(Turn turn, boolean suspends) {
    // The freeze first: a resume without it would be one of a workload that runs.
    turn.operations().stream()
        .filter(OperationView::isFinal)
        .sorted(Comparator.comparing(view -> view.type() == OperationType.RESUME))
        .forEach(view -> turn.act(new Act.Release(view)));
    if (suspends && !turn.wantsSuspended() && !turn.isCancelled()) {
      Suspension.idle(turn);
    } else {
      beginning.next(turn);
    }
  }

  /** Somebody has removed the order while it was carried out. Its agent thaws what it knows. */
  private static void vanished(Turn turn) {
    String sentence = "its operation was removed while it was at work";
    turn.report()
        .also(ConditionType.SOURCE_RUNNING, Truth.UNKNOWN, Reason.OPERATION_FAILED, sentence);
    turn.fail(Reason.OPERATION_FAILED, sentence);
  }
}
