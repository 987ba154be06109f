package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.engine.WrappedProgram.Killed;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the driver, criu, the mover or the agent do to a restore: either the workload is proven to
 * run, or nothing of it runs and it can be restored into another container.
 */
class RestoreFaultTest {

  /** It is missed at times on a busy machine; so often in a row, the killer does not work. */
  private static final int MOST_MISSED = 5;

  @SuppressWarnings("NullAway.Init")
  private static SavedLab saved;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private GpuContainer target;

  @BeforeAll
  static void save() throws InterruptedException {
    saved = SavedLab.save();
    lab = saved.lab();
  }

  @AfterAll
  static void itCanBeRestoredAfterAllOfThem() throws InterruptedException {
    try (SavedLab last = saved) {
      last.isRestoredElsewhere();
    }
  }

  @BeforeEach
  void startTarget() {
    target = saved.target();
  }

  @AfterEach
  void stopTarget() {
    target.close();
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({"restore, error 999", "restore, failed", "unlock, error 999"})
  void theDriverFailsOtherwise(String call, String fault) throws Exception {
    theDriverFails(call, fault);
  }

  @ParameterizedTest
  @CsvSource({
    "restore, error 2 at=before",
    "restore, outofstep",
    "restore, hang at=before",
    "unlock, failed",
  })
  void theDriverFails(String call, String fault) throws Exception {
    lab.gpus().fault(call, fault);
    NodeParts parts =
        fault.startsWith("hang")
            ? LabParts.patience(lab, call, Duration.ofSeconds(1))
            : lab.parts();
    failed(saved.restore(parts, target));
  }

  /**
   * Whether the driver has finished the call when the next worker asks is up to the driver; there
   * is a proven workload then, or none and a whole artifact.
   */
  @ParameterizedTest
  @CsvSource({"restore, middle", "restore, after", "unlock, after"})
  void theDriverWorkerIsKilled(String call, String when) throws Exception {
    WorkerKiller killer = WorkerKiller.inside(lab, call, when);
    RestoreOutcome outcome = saved.restore(lab.parts(), target);
    killer.assertKilled();
    if (outcome instanceof RestoreOutcome.Proven) {
      proven(outcome);
    } else {
      failed(outcome);
    }
  }

  @Test
  void theDriverWorkerIsKilledBeforeTheUnlock() throws Exception {
    WorkerKiller killer = WorkerKiller.inside(lab, "unlock", "before");
    RestoreOutcome outcome = saved.restore(lab.parts(), target);
    killer.assertKilled();
    failed(outcome);
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(ints = {1, 15})
  void theMoverIsKilledAtAnyOtherMoment(int millis) throws Exception {
    theMoverIsKilled(millis);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 5})
  void theMoverIsKilled(int millis) throws Exception {
    Killed mover =
        new WrappedProgram(lab.folder())
            .killedInMove("stasis-runtime", EngineLab.runtime(), "in", millis);
    RestoreOutcome outcome = saved.restore(LabParts.mover(lab, mover.program()), target);
    // A later moment may come after the end of the move; the first one must not.
    assertThat(mover.wasHit() || millis > 0).as("a mover killed after %d ms", millis).isTrue();
    if (mover.wasHit()) {
      failed(outcome);
    } else {
      proven(outcome);
    }
  }

  /** One that is done by then is restored again, and killed earlier. */
  @Tag("long")
  @ParameterizedTest
  @ValueSource(ints = {5, 20, 60})
  void criuIsKilledAtAnyOtherMoment(int millis) throws Exception {
    criuIsKilled(millis);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 10, 40})
  void criuIsKilled(int millis) throws Exception {
    int missed = 0;
    for (int moment = millis; !isKilled(moment); moment /= 2) {
      // On a busy machine criu may be done before the killer has its turn.
      missed += moment == 0 ? 1 : 0;
      assertThat(missed).as("times that criu was not hit at once").isLessThan(MOST_MISSED);
      target.close();
      target = saved.target();
    }
  }

  private boolean isKilled(int millis) throws Exception {
    try (CriuKiller killer = new CriuKiller(lab, target, Duration.ofMillis(millis))) {
      RestoreOutcome outcome = saved.restore(lab.parts(), target);
      // A signal to a criu that has just ended has no effect.
      if (!killer.wasHit() || outcome instanceof RestoreOutcome.Proven) {
        proven(outcome);
        return false;
      }
      assertThat(failed(outcome).step()).isEqualTo("criu-restore");
      return true;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"unpack", "criu-restore", "fill", "continue", "gpu-restore", "unlock"})
  void theAgentIsKilledAfter(String step) throws Exception {
    ChildAgent.dying(lab, saved.artifact().toString(), target, "AFTER", step);
    assertThat(lab.engine().thaw().inHand()).hasSize(1);
    assertThat(lab.engine().thaw().run(target.id(), StepListener.NONE))
        .isInstanceOfSatisfying(
            ThawOutcome.Ended.class,
            ended -> assertThat(ended.state().kind()).isEqualTo(SourceState.Kind.GONE));
    saved.nothingRunsIn(target);
  }

  /**
   * By the OOM killer, for example. Its memory cannot be filled, or its part of the work is lost.
   */
  @ParameterizedTest
  @CsvSource({"fill, chunks are still in", "continue, got one that ended (signal 9)"})
  void aRestoredChildIsKilledBefore(String before, String message) throws Exception {
    HookedStep.Hook killer =
        (moment, step) -> {
          if (moment == HookedStep.Moment.BEFORE && step.equals(before)) {
            killChild();
          }
        };
    Restore restore = new Restore(lab.parts(), HookedStep.all(Restore.steps(), killer));

    RestoreOutcome.Failed failed = failed(EngineLab.restore(restore, saved.artifact(), target));

    assertThat(failed.step()).isEqualTo(before);
    assertThat(failed.reason()).isEqualTo(Reason.NOT_PROVEN);
    assertThat(failed.message()).contains(message);
  }

  private void killChild() {
    Resolution.Found found = (Resolution.Found) lab.parts().containers().resolve(target.id());
    List<ProcessId> tree = lab.parts().tree().list(found.container()).living();
    ProcessId child = tree.get(tree.size() - 1);
    new Sh().must("kill", "-KILL", "" + child.pid());
    await().atMost(Duration.ofSeconds(60)).until(() -> !lab.parts().proc().alive(child));
  }

  private RestoreOutcome.Failed failed(RestoreOutcome outcome) throws Exception {
    assertThat(outcome).isInstanceOf(RestoreOutcome.Failed.class);
    saved.nothingRunsIn(target);
    return (RestoreOutcome.Failed) outcome;
  }

  private void proven(RestoreOutcome outcome) {
    assertThat(outcome).isInstanceOf(RestoreOutcome.Proven.class);
    saved.runsIn(target);
  }
}
