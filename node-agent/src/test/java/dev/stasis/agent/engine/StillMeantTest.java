package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever the last question before an artifact counts comes to, the workload runs on. */
class StillMeantTest {

  private static final int MIB = 8;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void begin() {
    lab = new EngineLab(1, 64);
    source = start();
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  private static GpuContainer start() {
    GpuContainer container =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100"));
    container.awaitSteps(2);
    return container;
  }

  @ParameterizedTest
  @EnumSource(After.class)
  void aWorkloadWithATerminatingSignalIsNotKept(After after) throws Exception {
    CheckpointOutcome.Failed failed = asked(after, () -> Optional.of("it was told to end"));

    assertThat(failed.reason()).isEqualTo(Reason.TOLD_TO_END);
    assertThat(failed.message()).isEqualTo("it was told to end");
  }

  @ParameterizedTest
  @EnumSource(After.class)
  void anAgentThatStopsWhileItAsksUndoesIt(After after) throws Exception {
    CheckpointOutcome.Failed failed =
        asked(
            after,
            () -> {
              throw new InterruptedException();
            });

    assertThat(failed.reason()).isEqualTo(Reason.CANCELLED);
  }

  @Test
  void aFailedCheckOfThePodIsAnInternalErrorAndUndone() throws Exception {
    CheckpointOutcome.Failed failed =
        asked(
            After.EVICT,
            () -> {
              throw new IllegalStateException("no thread to ask with");
            });

    assertThat(failed.reason()).isEqualTo(Reason.INTERNAL);
  }

  @ParameterizedTest
  @EnumSource(After.class)
  void aWorkloadThatReceivesATerminatingSignalMeanwhileIsNotKept(After after) throws Exception {
    try (GpuContainer told = start()) {
      OperationControl control = EngineLab.control();
      control.ask(
          () -> {
            new Sh().must("kill", "-TERM", Integer.toString(told.pid()));
            return Optional.empty();
          });

      CheckpointOutcome outcome =
          lab.engine()
              .checkpoint()
              .run(Asked.of(lab, told).after(after).request(), control, StepListener.NONE);

      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.reason()).isEqualTo(Reason.TOLD_TO_END);
                assertThat(failed.message())
                    .endsWith("got SIGTERM: it was told to end in the meantime");
                // It does what it was told as soon as it runs again.
                assertThat(failed.source().kind())
                    .isIn(SourceState.Kind.RUNNING, SourceState.Kind.GONE);
              });
      lab.assertNothingLeft();
    }
  }

  private static CheckpointOutcome.Failed asked(After after, OperationControl.Question question)
      throws Exception {
    OperationControl control = EngineLab.control();
    control.ask(question);

    CheckpointOutcome outcome =
        lab.engine()
            .checkpoint()
            .run(Asked.of(lab, source).after(after).request(), control, StepListener.NONE);

    assertThat(outcome).isInstanceOf(CheckpointOutcome.Failed.class);
    CheckpointOutcome.Failed failed = (CheckpointOutcome.Failed) outcome;
    assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
    source.awaitSteps(2);
    source.verify(MIB);
    lab.assertNothingLeft();
    return failed;
  }
}
