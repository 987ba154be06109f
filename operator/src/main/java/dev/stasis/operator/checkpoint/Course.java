package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.resize.RoomAnswer;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The steps of a GpuCheckpoint: of a save, a suspension and an import; and its deletion. */
final class Course {

  /** The default of {@code lookAgainEvery}, for the documentation. */
  private static final Duration POLL = Duration.ofSeconds(15);

  private final RoomTalk room = new RoomTalk();
  private final Holding holding;
  private final List<CheckpointStep> steps;
  private final Beginning beginning;
  private final Following following;
  private final Ending ending;
  private final Suspension suspension;
  private final Resting resting;
  private final Farewell farewell;
  private final Importing importing;
  private final Unexpanded unexpanded;
  private final RemoteUpload upload;
  private final Verification verification;

  Course(Operations operations, KubernetesSerialization serialization) {
    Orders orders = new Orders(operations);
    Template template = new Template(serialization);
    Places places = new Places();
    RoomReturn back = new RoomReturn(template);
    Validation validation = new Validation();
    this.upload = new RemoteUpload(orders);
    this.verification = new Verification(orders, places);
    this.holding = new Holding(orders, upload);
    Explaining explaining = new Explaining(validation, places);
    this.beginning = new Beginning(validation, orders, template, explaining);
    this.following = new Following(validation);
    Onward onward = new Onward(back, template);
    LeftFrozen leftFrozen = new LeftFrozen(onward);
    this.ending = new Ending(onward, leftFrozen, explaining, places);
    this.suspension = new Suspension(orders, back);
    this.resting = new Resting(back, leftFrozen, places);
    this.importing =
        new Importing(new ImportCheck(validation), orders, places, new ImportedPod(template));
    this.farewell = new Farewell(orders, holding, back, leftFrozen);
    this.unexpanded = new Unexpanded(template);
    this.steps = Stream.of(importing(), suspension(), saving()).flatMap(List::stream).toList();
  }

  void next(Turn turn) {
    course(turn);
    if (!turn.isDeleted()
        && (turn.phase() == CheckpointPhase.READY || turn.phase() == CheckpointPhase.SUSPENDED)) {
      if (!turn.isImport()) {
        upload.next(turn);
      }
      verification.next(turn);
    }
    unexpanded.write(turn.status());
  }

  private void course(Turn turn) {
    if (turn.isDeleted()) {
      farewell.next(turn);
      return;
    }
    CheckpointPhase phase = turn.phase();
    if (phase.isFinal() || turn.spec().getTimeSlice() == null) {
      turn.status().setTurn(null);
    }
    if (phase.isFinal()) {
      resting.over(turn);
      return;
    }
    for (CheckpointStep step : steps) {
      if (step.observe(turn) instanceof Progress.Due due) {
        due.run();
        return;
      }
    }
    vanished(turn);
  }

  /** Returns the steps of a save. The first that is not complete is the current one. */
  List<CheckpointStep> saving() {
    return List.of(
        new CheckpointStep(
            "admit",
            List.of(CheckpointPhase.PENDING),
            new Timeout("spec.options.deadline", "Nothing is changed meanwhile."),
            Course::isToBegin,
            turn -> begin(turn, suspends(turn)),
            POLL,
            ""),
        new CheckpointStep(
            "freeze-source",
            List.of(CheckpointPhase.FREEZING, CheckpointPhase.SAVING, CheckpointPhase.RESUMING),
            new Timeout(
                "spec.options.deadline, then orphanAfter without a word of its agent",
                "The agent ends its work by the deadline and undoes it; a node reboots in less than"
                    + " orphanAfter."),
            turn -> isAtWork(turn, view -> !isHeld(view) && !RoomAnswer.isAsked(view)),
            turn -> follow(turn, Following::working),
            POLL,
            "cancels the operation; the agent thaws the workload"),
        new CheckpointStep(
            "raise-memory-limit",
            List.of(CheckpointPhase.PENDING),
            new Timeout("spec.options.deadline", "Nothing is frozen meanwhile."),
            turn -> isAtWork(turn, RoomAnswer::isAsked),
            turn -> follow(turn, room::next),
            POLL,
            "lowers it again"),
        new CheckpointStep(
            "evict-source",
            List.of(CheckpointPhase.SAVING),
            new Timeout(
                "spec.options.deadline", "Then the agent thaws it, unless the pod is deleted."),
            turn -> isAtWork(turn, Course::isHeld) && !Holding.isLeaving(turn),
            turn -> follow(turn, holding::next),
            Backoff.FROZEN,
            "cancels the operation; the agent thaws the workload"),
        new CheckpointStep(
            "end-frozen-source",
            List.of(CheckpointPhase.SAVING),
            Timeout.none("A pod that is deleted is never thawed: SIGTERM waits in its processes."),
            turn -> isAtWork(turn, Course::isHeld) && Holding.isLeaving(turn),
            turn -> follow(turn, holding::next),
            Backoff.PATIENT,
            ""),
        new CheckpointStep(
            "report-result",
            List.of(CheckpointPhase.READY, CheckpointPhase.SUSPENDED),
            Timeout.none("One write of the status, which is retried."),
            turn -> freeze(turn).filter(OperationView::isFinal).isPresent(),
            turn -> ending.next(turn, Frozen.next(turn), freeze(turn).orElseThrow()),
            POLL,
            ""),
        new CheckpointStep(
            "keep-artifact",
            List.of(CheckpointPhase.READY),
            new Timeout("spec.ttlAfterReady", "For ever without one."),
            turn -> isReady(turn) && (turn.isImport() || freeze(turn).isEmpty()),
            this::ready,
            Duration.ofMinutes(10),
            "deletes the artifact, unless it is retained or the only copy"));
  }

  /** Returns the steps of a suspension; they are repeated as often as it is suspended. */
  List<CheckpointStep> suspension() {
    return List.of(
        new CheckpointStep(
            "stay-suspended",
            List.of(CheckpointPhase.SUSPENDED),
            Timeout.none("Until spec.desiredState is Running, or its time slice begins."),
            turn -> !turn.isImport() && turn.phase() == CheckpointPhase.SUSPENDED,
            suspension::rest,
            POLL,
            "resumes the workload"),
        new CheckpointStep(
            "resume",
            List.of(CheckpointPhase.RESUMING),
            new Timeout(
                "30 min for each try",
                "Never cut short by spec.options.deadline; 140 GB took 100 s on a busy H200."),
            Course::isResuming,
            suspension::resuming,
            POLL,
            ""));
  }

  /** Returns the steps of an import. */
  List<CheckpointStep> importing() {
    return List.of(
        new CheckpointStep(
            "import-artifact",
            List.of(CheckpointPhase.PENDING, CheckpointPhase.IMPORTING),
            new Timeout(
                "spec.options.deadline", "Nothing is frozen, and the artifact stays as it is."),
            turn -> turn.isImport() && turn.phase() != CheckpointPhase.READY,
            importing::next,
            POLL,
            "cancels the check; the artifact stays as it is"));
  }

  private void follow(Turn turn, Following.Continuation then) {
    following.next(turn, Frozen.next(turn), freeze(turn).orElseThrow(), then);
  }

  private void ready(Turn turn) {
    resting.ready(turn);
    if (!turn.isImport()) {
      new TimeSliceScheduler(turn).running();
    }
  }

  /** Returns the operation of a freeze that is not complete; empty while it rests, or before. */
  private static Optional<OperationView> freeze(Turn turn) {
    boolean rests =
        turn.isImport()
            || turn.phase() == CheckpointPhase.SUSPENDED
            || isResuming(turn)
            || (turn.phase() == CheckpointPhase.READY && !suspends(turn));
    return rests ? Optional.empty() : Frozen.next(turn).operation(turn);
  }

  private static boolean isAtWork(Turn turn, Predicate<OperationView> state) {
    return freeze(turn).filter(view -> !view.isFinal()).filter(state).isPresent();
  }

  private static boolean isHeld(OperationView view) {
    return view.phase() == OperationPhase.HELD;
  }

  private static boolean suspends(Turn turn) {
    return turn.spec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND
        && !turn.spec().getOptions().getDryRun();
  }

  private static boolean isResuming(Turn turn) {
    return !turn.isImport() && turn.phase() == CheckpointPhase.RESUMING && turn.isSuspended();
  }

  private static boolean isReady(Turn turn) {
    return turn.phase() == CheckpointPhase.READY && (turn.isImport() || !turn.wantsSuspended());
  }

  private static boolean isToBegin(Turn turn) {
    return !turn.isImport()
        && freeze(turn).isEmpty()
        && !isReady(turn)
        && (turn.phase() == CheckpointPhase.PENDING || turn.phase() == CheckpointPhase.READY);
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
        .also(
            ConditionType.SOURCE_RUNNING,
            ConditionValue.UNKNOWN,
            Reason.OPERATION_FAILED,
            sentence);
    turn.fail(Reason.OPERATION_FAILED, sentence);
  }
}
