package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An agent is killed at every step of a checkpoint, on the way in and on the way back. Another one
 * brings the workload back from the journal alone, and nothing is left behind.
 */
class KilledAgentTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 128);
    source =
        GpuContainer.start(
            ContainerSpec.counter(
                lab.gpus(),
                "--mib",
                "" + MIB,
                "--interval-ms",
                "20",
                "--fork",
                "1",
                "--threads",
                "1",
                "--deleted-file"));
    source.awaitSteps(3);
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  /** After a step is before the next one; its middle is what its own children are tested for. */
  static Stream<Arguments> everyStep() {
    return Stream.concat(
        Checkpoint.steps().stream().map(step -> Arguments.of("AFTER", step.name())),
        Checkpoint.steps().stream().map(step -> Arguments.of("BEFORE_UNDO", step.name())));
  }

  @ParameterizedTest
  @MethodSource("everyStep")
  void anotherOneBringsTheWorkloadBack(String moment, String step) throws Exception {
    ChildAgent.dying(lab, After.RESUME.name(), source, moment, step);
    thaw();
  }

  @ParameterizedTest
  @CsvSource({"DURING, lock", "DURING, dump", "DURING, hash", "DURING, publish"})
  void alsoInTheMiddle(String moment, String step) throws Exception {
    ChildAgent.dying(lab, After.RESUME.name(), source, moment, step);
    thaw();
  }

  @Test
  void twoAgentsNeverActAtOnce() throws Exception {
    try (ChildAgent other = ChildAgent.staying(lab, After.RESUME.name(), source, "AFTER", "stop")) {
      assertThat(lab.checkpoint(Asked.of(lab, source)))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Refused.class,
              refused ->
                  assertThat(refused.unmet()).hasSize(1).first().asString().contains("acts on"));
      assertThat(lab.engine().thaw().run(source.id(), StepListener.NONE))
          .isInstanceOfSatisfying(
              ThawOutcome.NotFound.class,
              busy -> assertThat(busy.why()).contains("an agent at work on it"));
    }
    assertThat(lab.checkpoint(Asked.of(lab, source)))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Refused.class,
            refused -> assertThat(refused.unmet().toString()).contains("thaw it first"));
    thaw();
  }

  private static void thaw() throws InterruptedException {
    assertThat(lab.engine().thaw().inHand()).hasSize(1);
    lab.thaw(source);
    lab.assertNothingLeft();
    assertThat(source.namesBelowUpper()).noneMatch(name -> name.startsWith("link_remap"));
    source.awaitSteps(3);
    source.verify(MIB);
  }
}
