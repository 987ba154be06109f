package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.testing.GpuContainer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A restore that fails at any step leaves nothing of the workload in the target, and an artifact
 * from which it comes back in another one.
 */
class FailingRestoreTest {

  @SuppressWarnings("NullAway.Init")
  private static SavedLab saved;

  @BeforeAll
  static void save() throws InterruptedException {
    saved = SavedLab.save();
  }

  @AfterAll
  static void close() {
    saved.close();
  }

  static Stream<Arguments> everyStep() {
    return Restore.steps().stream()
        .flatMap(
            step ->
                Stream.of(
                    Arguments.of(Moment.BEFORE, step.name()),
                    Arguments.of(Moment.AFTER, step.name())))
        // Its last act opens the gate: behind that nothing can fail any more.
        .filter(row -> !(row.get()[0] == Moment.AFTER && row.get()[1].equals("prove")));
  }

  @ParameterizedTest
  @MethodSource("everyStep")
  void nothingOfItRunsAndTheArtifactIsStillGood(Moment moment, String step) throws Exception {
    try (GpuContainer target = saved.target()) {
      failsAt(moment, step, target);
    }
  }

  /** With nothing done yet, in the middle, and with all but the proof done. */
  @ParameterizedTest
  @CsvSource({"BEFORE, unpack", "AFTER, criu-restore", "BEFORE, prove"})
  void itCanBeRestoredIntoAnotherContainer(Moment moment, String step) throws Exception {
    try (GpuContainer target = saved.target()) {
      failsAt(moment, step, target);
    }
    saved.isRestoredElsewhere();
  }

  private static void failsAt(Moment moment, String step, GpuContainer target) throws Exception {
    Restore restore =
        new Restore(
            saved.lab().parts(), HookedStep.all(Restore.steps(), HookedStep.failing(moment, step)));
    assertThat(EngineLab.restore(restore, saved.artifact(), target))
        .isInstanceOfSatisfying(
            RestoreOutcome.Failed.class,
            failed -> {
              assertThat(failed.step()).isEqualTo(step);
              assertThat(failed.message()).isEqualTo("injected " + moment + " " + step);
            });
    saved.nothingRunsIn(target);
  }
}
