package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.engine.CheckpointRequest.StagePlace;
import dev.stasis.agent.engine.WrappedProgram.Killed;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The mover is killed while it copies, or, in the low-memory mode, while it moves out or in:
 * between drop and fill no byte is lost.
 */
class KilledMoverTest {

  private static final int MIB = 96;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 256);
    source =
        GpuContainer.start(
            ContainerSpec.counter(
                lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--busy-writer"));
    source.awaitSteps(3);
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  @ParameterizedTest
  @CsvSource({"1, MEMORY", "10, MEMORY", "25, DISK"})
  void aMoverKilledWhileItCopiesLosesNothing(int millis, StagePlace stage) throws Exception {
    onTheWayOut(millis, stage, DataPathChoice.MOVER);
  }

  @ParameterizedTest
  @CsvSource({"1, MEMORY", "10, MEMORY", "25, MEMORY", "40, MEMORY", "60, DISK", "90, DISK"})
  void aMoverKilledWhileItDropsMemoryLosesNothing(int millis, StagePlace stage) throws Exception {
    onTheWayOut(millis, stage, DataPathChoice.LOW_MEMORY);
  }

  private static void onTheWayOut(int millis, StagePlace stage, DataPathChoice path)
      throws Exception {
    Killed mover = mover("out", millis);
    CheckpointOutcome outcome = run(mover, stage, path);
    if (wasHit(mover, millis)) {
      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.step())
                    .isEqualTo(path == DataPathChoice.MOVER ? "copied" : "move");
                assertThat(failed.reason()).isEqualTo(Reason.REGION_MOVE);
                assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
              });
    } else {
      assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    }
    runsOn();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10, 20, 30, 45})
  void aMoverKilledWhileItFillsMemoryBackLosesNothing(int millis) throws Exception {
    Killed mover = mover("in", millis);
    CheckpointOutcome outcome = run(mover, StagePlace.MEMORY, DataPathChoice.LOW_MEMORY);
    // The second attempt of the thaw may be too short for the kill.
    if (wasHit(mover, millis) && outcome instanceof CheckpointOutcome.Failed failed) {
      assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.FROZEN);
      assertThat(lab.engine().thaw().inHand()).hasSize(1);
      lab.thaw(source);
    } else {
      assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    }
    runsOn();
  }

  private static Killed mover(String way, int millis) {
    return new WrappedProgram(lab.folder())
        .killedInMove("stasis-runtime", EngineLab.runtime(), way, millis);
  }

  /** The later moments may come too late; the first one must not, or the moments are wrong. */
  private static boolean wasHit(Killed mover, int millis) {
    assertThat(mover.wasHit() || millis > 1).as("a mover killed after %d ms", millis).isTrue();
    return mover.wasHit();
  }

  private static CheckpointOutcome run(Killed mover, StagePlace stage, DataPathChoice path)
      throws InterruptedException {
    return EngineLab.checkpoint(
        new Checkpoint(LabParts.mover(lab, mover.program())),
        Asked.of(lab, source).by(path).staged(stage));
  }

  private static void runsOn() {
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }
}
