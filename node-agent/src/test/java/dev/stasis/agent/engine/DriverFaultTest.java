package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.engine.SourceState.Kind;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Whatever the driver does in any of its calls, the workload runs on with right numbers, or it is
 * said that it does not, and a thaw brings back what can be.
 */
class DriverFaultTest {

  private static final int MIB = 8;

  /** Calls of a few MiB take some milliseconds, on a busy machine some hundred times that. */
  private static final Duration PATIENCE = Duration.ofSeconds(4);

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @BeforeAll
  static void makeLab() {
    lab = new EngineLab(1, 96);
    // The worker is a JVM: its start is not what the patience is for.
    assertThat(lab.worker().ping(Duration.ofSeconds(60))).isInstanceOf(DriverAnswer.Done.class);
  }

  @AfterAll
  static void closeLab() {
    lab.close();
  }

  private static GpuContainer start() {
    GpuContainer source =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "20"));
    source.awaitSteps(2);
    return source;
  }

  private static CheckpointOutcome checkpoint(GpuContainer source) throws InterruptedException {
    return EngineLab.checkpoint(
        new Checkpoint(LabParts.patience(lab, PATIENCE)), Asked.of(lab, source));
  }

  /** The call fails or hangs on the way into the freeze: it is undone at once. */
  @ParameterizedTest
  @CsvSource({
    "state, hang",
    "restoreThread, hang",
    "restoreThread, error 999",
    "lock, error 999",
    "lock, error 600",
    "lock, hang at=before",
    "lock, hang",
    "lock, hang at=after",
    "checkpoint, error 2",
    "checkpoint, error 2 at=before",
    "checkpoint, error 999",
    "checkpoint, error 801",
  })
  void aFaultOnTheWayIntoTheFreezeIsUndone(String call, String fault) throws Exception {
    try (GpuContainer source = start()) {
      lab.gpus().fault(call, fault);
      CheckpointOutcome outcome = checkpoint(source);
      assertThat(outcome)
          .as(outcome.toString())
          .satisfiesAnyOf(
              refused -> assertThat(refused).isInstanceOf(CheckpointOutcome.Refused.class),
              published -> assertThat(published).isInstanceOf(CheckpointOutcome.Published.class),
              failed ->
                  assertThat(failed)
                      .isInstanceOfSatisfying(
                          CheckpointOutcome.Failed.class,
                          end -> assertThat(end.source().kind()).isEqualTo(Kind.RUNNING)));
      lab.assertNothingLeft();
      source.awaitSteps(3);
      source.verify(MIB);
    }
  }

  /** A call that takes long, or finishes although nobody waits for it any more, is no failure. */
  @ParameterizedTest
  @CsvSource({
    "lock, slow 300",
    "checkpoint, slow 500",
    "checkpoint, hang",
    "checkpoint, hang at=after",
    "restore, slow 500",
    "restore, hang",
    "restore, hang at=after",
    "unlock, slow 300",
    "unlock, hang at=after",
  })
  void aSlowOrLostCallThatFinishesIsGoodEnough(String call, String fault) throws Exception {
    try (GpuContainer source = start()) {
      lab.gpus().fault(call, fault);
      assertThat(checkpoint(source)).isInstanceOf(CheckpointOutcome.Published.class);
      lab.assertNothingLeft();
      source.awaitSteps(3);
      source.verify(MIB);
    }
  }

  /** The call fails on the way back: the workload stays whole and frozen, and a thaw does it. */
  @ParameterizedTest
  @CsvSource({"restore, error 2 at=before", "unlock, error 999", "restore, hang at=before"})
  void aFaultOnTheWayBackLeavesItFrozenUntilTheThaw(String call, String fault) throws Exception {
    try (GpuContainer source = start()) {
      lab.gpus().fault(call, fault);
      assertThat(checkpoint(source))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> assertThat(failed.source().kind()).isEqualTo(Kind.FROZEN));
      assertThat(lab.engine().thaw().inHand()).hasSize(1);
      lab.thaw(source);
      lab.assertNothingLeft();
      source.awaitSteps(3);
      source.verify(MIB);
    }
  }

  /** What only the end of the process cures is said, with the driver's own word. */
  @ParameterizedTest
  @CsvSource({
    "lock, failed",
    "lock, outofstep",
    "checkpoint, failed",
    "checkpoint, outofstep",
    "restore, failed",
    "restore, outofstep",
    "unlock, failed",
  })
  void aProcessThatTheDriverGaveUpIsCalledUnknown(String call, String fault) throws Exception {
    try (GpuContainer source = start()) {
      lab.gpus().fault(call, fault);
      assertThat(checkpoint(source))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.source().kind()).isEqualTo(Kind.UNKNOWN);
                assertThat(failed.source().detail()).contains("FAILED");
              });
      assertThat(lab.engine().thaw().inHand()).hasSize(1);
      source.end();
      assertThat(lab.engine().thaw().run(source.id(), StepListener.NONE))
          .isInstanceOfSatisfying(
              ThawOutcome.Ended.class,
              ended -> assertThat(ended.state().kind()).isEqualTo(Kind.GONE));
      lab.assertNothingLeft();
    }
  }
}
