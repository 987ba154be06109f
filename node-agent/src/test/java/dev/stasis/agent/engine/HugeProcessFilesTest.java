package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.ContainerResolver;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A workload with more in /proc than the agent reads is refused, and never stays frozen. */
class HugeProcessFilesTest {

  private static final int MIB = 8;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  private final ProcWithMemory huge = new ProcWithMemory();

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 128);
    source =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100"));
    source.awaitSteps(3);
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  @AfterEach
  void runsOn() {
    huge.close();
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }

  @Test
  void itIsRefusedByNameBeforeTheFreeze() throws Exception {
    memory();
    huge.has(source.pid(), "environ", "A=1\0".repeat(2 << 20));
    NodeParts node = LabParts.proc(lab, huge.proc());

    assertThat(EngineLab.checkpoint(new Checkpoint(node), Asked.of(lab, source)))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Refused.class,
            refused ->
                assertThat(refused.unmet())
                    .singleElement()
                    .hasToString(
                        "environ of process %d: expected at most 4 MiB, got more"
                            .formatted(source.pid())));
  }

  @Test
  void oneThatGrowsAfterTheInspectionIsRolledBack() throws Exception {
    memory();
    NodeParts node = LabParts.proc(lab, huge.proc());
    HookedStep.Hook grows =
        (moment, step) -> {
          if (moment == Moment.BEFORE && step.equals(StopStep.NAME)) {
            grow();
          }
        };

    assertThat(
            EngineLab.checkpoint(
                new Checkpoint(node, HookedStep.all(Checkpoint.steps(), grows)),
                Asked.of(lab, source)))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.reason()).isEqualTo(Reason.REFUSED);
              assertThat(failed.message()).contains("maps of process " + source.pid());
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
            });
  }

  @Test
  void aFrozenOneIsFoundAndThawed() throws Exception {
    assertThat(lab.checkpoint(Asked.of(lab, source).after(After.EVICT)))
        .isInstanceOf(CheckpointOutcome.Held.class);
    memory();
    grow();

    assertThat(new ContainerResolver(huge.proc()).byPid(source.pid()))
        .isInstanceOf(Resolution.Found.class);
    NodeParts node = LabParts.proc(lab, huge.proc());
    assertThat(new WorkloadInspector(node).at(source.id()).state().kind())
        .isEqualTo(SourceState.Kind.FROZEN);
    assertThat(new Thaw(node).run(source.id(), StepListener.NONE))
        .isInstanceOfSatisfying(
            ThawOutcome.Ended.class,
            ended -> assertThat(ended.state().kind()).isEqualTo(SourceState.Kind.RUNNING));
  }

  private void memory() throws IOException {
    huge.available(1L << 40);
  }

  private void grow() {
    try {
      huge.has(source.pid(), "environ", "A=1\0".repeat(2 << 20));
      huge.has(source.pid(), "cmdline", "python\0" + "x\0".repeat(4 << 20));
      huge.has(
          source.pid(),
          "maps",
          "7f0000000000-7f0000001000 r--p 00000000 08:01 7 /lib\n".repeat(100_001));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
