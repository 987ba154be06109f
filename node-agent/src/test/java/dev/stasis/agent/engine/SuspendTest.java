package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.engine.CheckpointRequest.StagePlace;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A suspended workload holds no device memory and can be thawed any number of times. */
class SuspendTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private GpuContainer source;

  @BeforeEach
  void start() {
    lab = new EngineLab(1, 96);
    source =
        GpuContainer.start(
            ContainerSpec.counter(
                lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--fork", "1"));
    source.awaitSteps(2);
  }

  @AfterEach
  void stop() {
    source.close();
    lab.close();
  }

  @Test
  void aWorkloadCanBeSuspendedAndResumedRepeatedly() throws Exception {
    for (int round = 0; round < 3; round++) {
      CheckpointOutcome outcome =
          lab.checkpoint(Asked.of(lab, source).to(null).after(After.SUSPEND));
      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Suspended.class,
              suspended -> assertThat(suspended.freedBytes()).isGreaterThan(2L * MIB << 20));
      assertThat(lab.engine().thaw().inHand())
          .singleElement()
          .satisfies(work -> assertThat(work.phase()).isEqualTo(Work.Phase.SUSPENDED));
      lab.thaw(source);
      lab.assertNothingLeft();
      source.awaitSteps(3);
      source.verify(MIB);
    }
  }

  @Test
  void aSuspendedWorkloadIsNotFrozenOnceMore() throws Exception {
    lab.checkpoint(Asked.of(lab, source).to(null).after(After.SUSPEND));
    assertThat(lab.checkpoint(Asked.of(lab, source)))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Refused.class,
            refused -> assertThat(refused.unmet().toString()).contains("stasis-node thaw"));
    lab.thaw(source);
    source.awaitSteps(2);
    source.verify(MIB);
  }

  /** A suspended process keeps its other threads, and one of them may execute another program. */
  @Test
  void aProcessWithAnotherProgramDoesNotKeepTheOthersFrozen() throws Exception {
    lab.checkpoint(Asked.of(lab, source).to(null).after(After.SUSPEND));
    Work work = lab.engine().thaw().inHand().get(0);
    List<CudaProcess> cuda = work.cuda();
    assertThat(cuda).hasSize(2);
    ProcessId changed = cuda.get(0).process();
    NodeParts parts = LabParts.driver(lab, new OtherProgramDriver(lab.worker(), changed));
    assertThat(new Thaw(parts).run(source.id(), StepListener.NONE))
        .isInstanceOfSatisfying(
            ThawOutcome.Ended.class,
            ended -> {
              assertThat(ended.state().kind())
                  .as(ended.state().detail())
                  .isEqualTo(SourceState.Kind.RUNNING);
              assertThat(ended.state().detail()).contains("another program: [" + changed);
            });
    assertThat(lab.parts().calls().state(cuda.get(1))).isEqualTo(CudaState.RUNNING);
    assertThat(lab.parts().calls().state(cuda.get(0))).isEqualTo(CudaState.CHECKPOINTED);
    lab.parts().journal().write(work); // It has the same program after all.
    lab.thaw(source);
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }

  /** A suspended process may end by itself, or be killed, while its parent lives. */
  @Test
  void aProcessThatEndedWhileSuspendedDoesNotKeepTheWorkloadFrozen() throws Exception {
    lab.checkpoint(Asked.of(lab, source).to(null).after(After.SUSPEND));
    Process other = new ProcessBuilder("sleep", "1000").start();
    ProcessId process = lab.parts().proc().id((int) other.pid()).orElseThrow();
    other.destroyForcibly().waitFor();
    Work work = lab.engine().thaw().inHand().get(0);
    List<CudaProcess> cuda = new ArrayList<>(work.cuda());
    cuda.add(new CudaProcess(process, process.pid(), Map.of()));
    lab.parts()
        .journal()
        .write(
            work.withCuda(cuda)
                .withOffloaded(List.of(new Offloaded(process, 1, Map.of(), null)), work.stage()));
    assertThat(lab.engine().thaw().run(source.id(), StepListener.NONE))
        .isInstanceOfSatisfying(
            ThawOutcome.Ended.class,
            ended -> {
              assertThat(ended.state().kind())
                  .as(ended.state().detail())
                  .isEqualTo(SourceState.Kind.RUNNING);
              assertThat(ended.state().detail()).contains(process.toString());
            });
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }

  /** A clock that is set back meanwhile reaches the time of the record too late. */
  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void aLockThatAnotherAgentBeganIsWaitedForWithoutTheWallClock() throws Exception {
    lab.checkpoint(Asked.of(lab, source).to(null).after(After.SUSPEND));
    Work work = lab.engine().thaw().inHand().get(0);
    lab.thaw(source);
    Instant now = Instant.parse("2026-01-01T00:00:00Z");
    FrozenWork begun =
        new FrozenWork(
            LabParts.clock(lab, Clock.fixed(now, ZoneOffset.UTC)),
            work.withLockUntil(now.plusSeconds(1)),
            StepListener.NONE);
    long begin = System.nanoTime();
    new LockStep().undo(begun);
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofSeconds(1));
    source.awaitSteps(2);
    source.verify(MIB);
  }

  @Test
  void withAStoreTheArtifactIsPublishedToo() throws Exception {
    Asked asked = Asked.of(lab, source).after(After.SUSPEND).staged(StagePlace.MEMORY);
    assertThat(lab.checkpoint(asked)).isInstanceOf(CheckpointOutcome.Suspended.class);
    assertThat(lab.artifacts()).hasSize(1);
    assertThat(lab.memoryStage()).as("second copies of the memory").isEmptyDirectory();
    lab.thaw(source);
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }
}
