package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The driver worker is killed inside each call: the driver's own work goes on, and so does ours.
 */
class KilledWorkerTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 96);
    source =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100"));
    source.awaitSteps(2);
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  @ParameterizedTest
  @CsvSource({"lock, after", "checkpoint, middle", "restore, middle", "unlock, after"})
  void aStartedDriverCallIsFinished(String call, String when) throws Exception {
    WorkerKiller killer = WorkerKiller.inside(lab, call, when);
    CheckpointOutcome outcome = lab.checkpoint(Asked.of(lab, source));
    killer.assertKilled();
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    runsOn();
  }

  @Test
  void aFreezeThatHasNotBegunIsUndone() throws Exception {
    WorkerKiller killer = WorkerKiller.inside(lab, "lock", "before");
    CheckpointOutcome outcome = lab.checkpoint(Asked.of(lab, source));
    killer.assertKilled();
    assertThat(failed(outcome).source().kind()).isEqualTo(SourceState.Kind.RUNNING);
    runsOn();
  }

  @Test
  void aThawThatHasNotBegunIsDoneByTheNextOne() throws Exception {
    WorkerKiller killer = WorkerKiller.inside(lab, "unlock", "before");
    CheckpointOutcome outcome = lab.checkpoint(Asked.of(lab, source));
    killer.assertKilled();
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    runsOn();
  }

  private static CheckpointOutcome.Failed failed(CheckpointOutcome outcome) {
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Failed.class);
    return (CheckpointOutcome.Failed) outcome;
  }

  private static void runsOn() {
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }
}
