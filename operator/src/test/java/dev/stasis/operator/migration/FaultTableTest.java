package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.status.Reason;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every state before the decision, with everything that can go wrong in it. */
class FaultTableTest {

  private static final Map<String, Consumer<Moving>> STATES =
      Map.of(
          "target starting", Moving::holding,
          "connected", Moving::connected,
          "freezing", Moving::freezing,
          "held", Moving::held,
          "sending", Moving::sending,
          "restoring", Moving::restoring);

  private static final Map<String, Consumer<Moving>> WRONGS =
      Map.of(
          "cancelled", moving -> moving.migration.getSpec().getOptions().setCancel(true),
          "deleted",
              moving -> moving.migration.getMetadata().setDeletionTimestamp(Moving.NOW.toString()),
          "too late", moving -> moving.now = Moving.NOW.plusSeconds(3600),
          "target deleted",
              moving -> {
                moving.status().setAttempts(Decider.ATTEMPTS);
                moving.target = null;
              },
          "target ended",
              moving -> {
                moving.status().setAttempts(Decider.ATTEMPTS);
                Objects.requireNonNull(moving.target).getStatus().setPhase("Failed");
              });

  @TestFactory
  Stream<DynamicTest> whateverGoesWrongBeforeTheDecisionRollsBack() {
    return STATES.entrySet().stream()
        .flatMap(
            state ->
                WRONGS.entrySet().stream()
                    .map(
                        wrong ->
                            DynamicTest.dynamicTest(
                                state.getKey() + ": " + wrong.getKey(),
                                () -> {
                                  Moving moving = new Moving();
                                  state.getValue().accept(moving);
                                  if (moving.operations.containsKey("Restore-1")) {
                                    moving.end(OperationType.RESTORE, 1, OperationPhase.FAILED);
                                  }
                                  wrong.getValue().accept(moving);
                                  assertThat(moving.next()).isInstanceOf(Next.RollBack.class);
                                })));
  }

  @TestFactory
  Stream<DynamicTest> aFailedOrderRollsBack() {
    Map<String, Consumer<Moving>> failures =
        Map.of(
            "freeze",
            moving -> {
              moving.freezing();
              moving.end(OperationType.CHECKPOINT, Work.FREEZE, OperationPhase.FAILED);
            },
            "restore",
            moving -> {
              moving.restoring();
              moving.end(OperationType.RESTORE, 1, OperationPhase.FAILED);
            });
    return failures.entrySet().stream()
        .map(
            it ->
                DynamicTest.dynamicTest(
                    it.getKey(),
                    () -> {
                      Moving moving = new Moving();
                      it.getValue().accept(moving);
                      Next.RollBack back = (Next.RollBack) moving.next();
                      assertThat(back.faults()).containsExactly(Moving.fault("CriuFailed"));
                    }));
  }

  /** From any state the same order: nothing runs there, then the source goes on, then the rest. */
  @TestFactory
  Stream<DynamicTest> theSourceIsThawedOnlyWhenNothingCanRunOnTheTarget() {
    return Stream.of("held", "sending", "restoring")
        .map(
            state ->
                DynamicTest.dynamicTest(
                    state,
                    () -> {
                      Moving moving = new Moving();
                      Objects.requireNonNull(STATES.get(state)).accept(moving);
                      moving.decided(Decision.ROLL_BACK);
                      List<String> way = way(moving);
                      assertThat(way).containsSubsequence("thaw", "delete here", "undone");
                      if (!state.equals("held")) {
                        assertThat(way).startsWith("cancel");
                      }
                      assertThat(way.indexOf("remove target")).isLessThan(way.indexOf("thaw"));
                    }));
  }

  @Test
  void aTargetThatMayRunIsSeenToBeGoneBeforeTheThaw() {
    Moving moving = new Moving().proven().decided(Decision.ROLL_BACK);
    assertThat(moving.next()).isInstanceOf(Next.RemoveTarget.class);

    Objects.requireNonNull(moving.target).getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    assertThat(moving.next()).isInstanceOf(Next.Wait.class);
    // Also when nobody there answers: it may run all the same.
    moving.there = Moving.silent("there");
    assertThat(moving.next()).isInstanceOf(Next.Wait.class);

    moving.target = null;
    assertThat(((Next.Decided) moving.next()).type()).isEqualTo(OperationType.THAW);
  }

  @Test
  void aRestoreOfWhichNobodyHearsIsWaitedForUntilItsPodIsGone() {
    Moving moving = new Moving().restoring().decided(Decision.ROLL_BACK);
    moving.get(OperationType.RESTORE, 1).getSpec().setCancel(true);
    assertThat(moving.next()).isInstanceOf(Next.Wait.class);

    moving.there = Moving.silent("there");
    assertThat(moving.next()).isInstanceOf(Next.RemoveTarget.class);
    Objects.requireNonNull(moving.target).getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    assertThat(moving.next()).isInstanceOf(Next.Wait.class);
  }

  @Test
  void aThawThatFailsIsTriedAgain() {
    Moving moving = new Moving().held().decided(Decision.ROLL_BACK);
    moving.target = null;
    moving.operation(OperationType.THAW, 1, "here", OperationPhase.FAILED);
    assertThat(((Next.Decided) moving.next()).number()).isEqualTo(2);
  }

  /** A frozen source is never given up: it is thawed once more as often as that takes. */
  @ParameterizedTest
  @EnumSource(
      value = Outcome.class,
      names = {"NOT_UNDONE", "REFUSED", "UNDONE"})
  void aFrozenSourceIsThawedWithoutALimit(Outcome outcome) {
    Moving moving = new Moving().held().decided(Decision.ROLL_BACK);
    moving.target = null;
    GpuNodeOperation thaw = moving.operation(OperationType.THAW, 10, "here", OperationPhase.FAILED);
    thaw.getStatus().setOutcome(outcome);
    thaw.getStatus().setPhases(List.of(new PhaseTime<>(OperationPhase.FAILED, Moving.NOW)));
    Next.Wait wait = (Next.Wait) moving.next();
    assertThat(wait.reason()).isEqualTo(Reason.NOT_THAWED);

    moving.now = Moving.NOW.plusSeconds(1200);
    assertThat(((Next.Decided) moving.next()).number()).isEqualTo(11);
  }

  @Test
  void aSourceLeftFrozenByTheFreezeIsAwaitedUntilItRuns() {
    Moving moving = new Moving().freezing();
    moving.end(OperationType.CHECKPOINT, Work.FREEZE, OperationPhase.FAILED);
    GpuNodeOperationStatus freeze = moving.freeze().getStatus();
    freeze.setOutcome(Outcome.NOT_UNDONE);
    freeze.setWorkload(WorkloadState.FROZEN);
    moving.decided(Decision.ROLL_BACK);
    moving.target = null;
    Next.Wait wait = (Next.Wait) moving.next();
    assertThat(wait.reason()).isEqualTo(Reason.NOT_THAWED);
    assertThat(moving.view().work().freeze().orElseThrow().isLeftFrozen()).isTrue();

    freeze.setWorkload(WorkloadState.ENDED);
    assertThat(((Next.Lose) moving.next()).reason()).isEqualTo(Reason.WORKLOAD_LOST);

    freeze.setWorkload(WorkloadState.RUNNING);
    assertThat(moving.next()).isNotInstanceOfAny(Next.Lose.class, Next.Wait.class);
  }

  @Test
  void aStandingSourceWhoseNodeIsGoneIsLost() {
    Moving moving = new Moving().freezing();
    moving.end(OperationType.CHECKPOINT, Work.FREEZE, OperationPhase.FAILED);
    moving.freeze().getStatus().setOutcome(Outcome.NOT_UNDONE);
    moving.freeze().getStatus().setWorkload(WorkloadState.FROZEN);
    moving.decided(Decision.ROLL_BACK);
    moving.target = null;
    moving.here = Moving.gone("here");
    assertThat(moving.next()).isInstanceOf(Next.Lose.class);
  }

  @Test
  void aSourceThatIsLostIsNeverThawed() {
    Moving moving = new Moving().held().decided(Decision.ROLL_BACK);
    moving.target = null;
    moving.source = null;

    assertThat(((Next.Decided) moving.next()).type()).isEqualTo(OperationType.END);
    moving.operation(OperationType.END, 1, "here", OperationPhase.SUCCEEDED);
    assertThat(moving.next()).isInstanceOf(Next.Lose.class);
  }

  @Test
  void anArtifactThatArrivedSurvivesAReboot() {
    Moving moving = new Moving().proven();
    moving.end(OperationType.CHECKPOINT, Work.FREEZE, OperationPhase.FAILED);
    moving.freeze().getStatus().setOutcome(Outcome.LOST);
    assertThat(moving.next()).isInstanceOf(Next.SwitchOver.class);

    Moving early = new Moving().freezing();
    early.end(OperationType.CHECKPOINT, Work.FREEZE, OperationPhase.FAILED);
    early.freeze().getStatus().setOutcome(Outcome.LOST);
    assertThat(early.next()).isInstanceOf(Next.RollBack.class);
    early.decided(Decision.ROLL_BACK);
    early.target = null;
    assertThat(early.next()).isInstanceOf(Next.Lose.class);
  }

  @Test
  void aRestartedContainerIsNotTheFrozenOne() {
    Moving moving = new Moving().held();
    assertThat(moving.view().sourceLost()).isEmpty();

    moving.source = Moving.pod("trainer", "source-uid", "here", "containerd://new");
    assertThat(moving.view().sourceLost().orElseThrow())
        .isEqualTo(
            "pod trainer container main: expected the frozen one (abc), got containerd://new");
  }

  @Test
  void aNodeThatIsGoneTakesItsWorkloadWithIt() {
    Moving moving = new Moving().freezing().decided(Decision.ROLL_BACK);
    moving.target = null;
    moving.here = Moving.gone("here");

    assertThat(moving.next()).isInstanceOf(Next.Lose.class);
  }

  @Test
  void aNodeThatIsGoneDuringTheFreezeIsNotWaitedFor() {
    Moving moving = new Moving().freezing();
    moving.here = Moving.silent("here");
    assertThat(((Next.Wait) moving.next()).reason()).isEqualTo(Reason.NODE_SILENT);

    moving.here = Moving.gone("here");
    Next.RollBack end = (Next.RollBack) moving.next();
    assertThat(end.faults().get(0).message())
        .isEqualTo(
            "node of the source: expected a node of the cluster until the artifact is complete, got"
                + " node here left the cluster");
  }

  @Test
  void afterTheDecisionOnlyTheTargetIsLeft() {
    Moving moving = new Moving().proven().decided(Decision.SWITCH_OVER);
    moving.migration.getSpec().getOptions().setCancel(true);
    assertThat(moving.next()).isInstanceOf(Next.RemoveSource.class);

    moving.source().getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    assertThat(((Next.Decided) moving.next()).type()).isEqualTo(OperationType.END);
    moving.operation(OperationType.END, 1, "here", OperationPhase.SUCCEEDED);
    moving.end(OperationType.CHECKPOINT, Work.FREEZE, OperationPhase.SUCCEEDED);
    assertThat(moving.next()).isInstanceOf(Next.Wait.class);

    moving.source = null;
    assertThat(((Next.Delete) moving.next()).node()).isEqualTo("here");
    moving.operation(OperationType.DELETE_ARTIFACT, 1, "here", OperationPhase.SUCCEEDED);
    assertThat(((Next.Delete) moving.next()).node()).isEqualTo("there");
    moving.operation(OperationType.DELETE_ARTIFACT, 2, "there", OperationPhase.SUCCEEDED);
    assertThat(moving.next()).isInstanceOf(Next.Succeed.class);
  }

  @Test
  void aSourceCutOffAfterTheDecisionKeepsNobodyWaitingForEver() {
    Moving moving = new Moving().proven().decided(Decision.SWITCH_OVER);
    moving.source().getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    moving.here = Moving.silent("here");
    moving.operation(OperationType.END, 1, "here", OperationPhase.PENDING);
    moving.now = Moving.NOW.plusSeconds(600);
    assertThat(moving.next()).isInstanceOf(Next.Wait.class);

    moving.now = Moving.NOW.plusSeconds(3600);
    assertThat(((Next.Delete) moving.next()).node()).isEqualTo("there");
  }

  private static List<String> way(Moving moving) {
    List<String> way = new java.util.ArrayList<>();
    for (int step = 0; step < 20; step++) {
      Next next = moving.next();
      if (next instanceof Next.Cancel cancel) {
        way.add("cancel");
        cancel.operation().operation().getSpec().setCancel(true);
        cancel.operation().operation().getStatus().setPhase(OperationPhase.CANCELLED);
        cancel.operation().operation().getStatus().setOutcome(Outcome.UNDONE);
      } else if (next instanceof Next.RemoveTarget) {
        way.add("remove target");
        moving.target = null;
      } else if (next instanceof Next.Decided decided) {
        way.add(decided.type().value().toLowerCase(java.util.Locale.ROOT));
        moving.operation(decided.type(), decided.number(), "here", OperationPhase.SUCCEEDED);
        moving.end(OperationType.CHECKPOINT, Work.FREEZE, OperationPhase.SUCCEEDED);
      } else if (next instanceof Next.Delete delete) {
        way.add("delete " + delete.node());
        moving.operation(
            OperationType.DELETE_ARTIFACT,
            delete.number(),
            delete.node(),
            OperationPhase.SUCCEEDED);
      } else if (next instanceof Next.Undone) {
        way.add("undone");
        return way;
      } else {
        throw new AssertionError("expected a deed, got " + next);
      }
    }
    throw new AssertionError("no end: " + way);
  }
}
