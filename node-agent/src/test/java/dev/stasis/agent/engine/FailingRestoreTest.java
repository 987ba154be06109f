package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A restore that fails at any step leaves nothing of the workload in the target, and an artifact
 * from which it comes back in another one.
 */
class FailingRestoreTest {

  private static final int MIB = 8;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static ContainerSpec spec;

  @SuppressWarnings("NullAway.Init")
  private static CheckpointOutcome.Published published;

  @SuppressWarnings("NullAway.Init")
  private static List<String> before;

  @BeforeAll
  static void save() throws InterruptedException {
    lab = new EngineLab(1, 128);
    spec =
        ContainerSpec.counter(
            lab.gpus(), "--mib", "" + MIB, "--interval-ms", "20", "--fork", "1", "--threads", "1");
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      published = lab.published(Asked.of(lab, source));
      source.awaitSteps(2);
      before = source.lines();
    }
  }

  @AfterAll
  static void close() {
    lab.close();
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
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      Restore restore =
          new Restore(
              lab.parts(), HookedStep.all(Restore.steps(), HookedStep.failing(moment, step)));
      RestoreOutcome outcome = EngineLab.restore(restore, published.artifact().path(), target);
      assertThat(outcome)
          .isInstanceOfSatisfying(
              RestoreOutcome.Failed.class,
              failed -> {
                assertThat(failed.step()).isEqualTo(step);
                assertThat(failed.message()).isEqualTo("injected " + moment + " " + step);
              });
      nothingRunsIn(target);
    }
    comesBack();
  }

  /** Only the holder is left, or it has ended with the workload, as it does. */
  private static void nothingRunsIn(GpuContainer target) {
    if (lab.parts().containers().resolve(target.id()) instanceof Resolution.Found found) {
      assertThat(lab.parts().tree().list(found.container()).living())
          .allMatch(process -> process.equals(found.container().init()));
    }
    assertThat(target.holderFolder().resolve("restored")).doesNotExist();
    lab.assertNothingLeft();
  }

  private static void comesBack() throws InterruptedException {
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      assertThat(lab.restore(published.artifact().path(), target))
          .isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(3);
      target.verify(MIB, before);
    }
  }
}
