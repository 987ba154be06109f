package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ThreadStat;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.IdleChild;
import dev.stasis.agent.testing.Sh;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What cannot be seen is not said. */
class WorkloadInspectorTest {

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 64);
    source =
        GpuContainer.start(
            ContainerSpec.counter(
                lab.gpus(), "--mib", "8", "--interval-ms", "100", IdleChild.OPTION));
    source.awaitSteps(2);
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  @Test
  void aWorkloadWithoutAJournalIsNotSaidToRunWhenTheDriverDoesNotAnswer() throws Exception {
    assertThat(lab.engine().look().at(source.id()).state().kind())
        .isEqualTo(SourceState.Kind.RUNNING);

    lab.gpus().fault("restoreThread", "slow 1000");
    WorkloadInspector look =
        new WorkloadInspector(LabParts.patience(lab, "restoreThread", Duration.ofMillis(100)));
    assertThat(look.at(source.id()).state().kind()).isEqualTo(SourceState.Kind.UNKNOWN);
    lab.gpus().mend("restoreThread");
  }

  /** Nothing but the program itself, or its user, can have stopped it. */
  @Test
  void aWorkloadWithoutAJournalRunsWhileAProcessWithoutCudaIsStopped() throws Exception {
    IdleChild child = new IdleChild(source.pid());
    child.stop();
    SourceState state = lab.engine().look().at(source.id()).state();
    child.goOn();
    assertThat(state.kind()).as(state.detail()).isEqualTo(SourceState.Kind.RUNNING);
  }

  @Test
  void aWorkloadWithoutAJournalIsFrozenWhileAProcessWithCudaIsStopped() throws Exception {
    new Sh().must("kill", "-STOP", Integer.toString(source.pid()));
    Awaitility.await("the stop of all threads")
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                lab.parts().proc().threads(source.pid()).stream().allMatch(ThreadStat::isStopped));
    SourceState state = lab.engine().look().at(source.id()).state();
    new Sh().must("kill", "-CONT", Integer.toString(source.pid()));
    assertThat(state.kind()).as(state.detail()).isEqualTo(SourceState.Kind.FROZEN);
  }

  /** Its processes cannot be listed, so nobody knows that they have ended. */
  @Test
  void aTargetThatCannotBeResolvedIsUnknownWhileItsHolderLives() {
    ProcessId self = new ProcFs().id((int) ProcessHandle.current().pid()).orElseThrow();
    assertThat(end(self).kind()).isEqualTo(SourceState.Kind.UNKNOWN);
    assertThat(end(new ProcessId(self.pid(), 1)).kind()).isEqualTo(SourceState.Kind.GONE);
  }

  private static SourceState end(ProcessId holder) {
    Work work =
        new Work(
            Work.FORMAT,
            lab.parts().proc().bootId(),
            "id",
            "owner",
            Work.Kind.RESTORE,
            After.RESUME,
            false,
            Work.Phase.WORKING,
            Instant.EPOCH,
            "no-such-container",
            holder,
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            null,
            null,
            null,
            List.of(),
            null,
            null,
            null,
            false);
    return new RestoredTree(new FrozenWork(lab.parts(), work, StepListener.NONE)).end();
  }
}
