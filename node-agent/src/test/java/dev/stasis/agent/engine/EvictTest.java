package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An evicted workload is published and held; it ends on the caller's word and only then. */
class EvictTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private ContainerSpec spec;

  @SuppressWarnings("NullAway.Init")
  private GpuContainer source;

  @SuppressWarnings("NullAway.Init")
  private CheckpointOutcome.Held held;

  @BeforeEach
  void evict() throws InterruptedException {
    lab = new EngineLab(1, 96);
    spec =
        ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--fork", "1");
    source = GpuContainer.start(spec);
    source.awaitSteps(2);
    CheckpointOutcome outcome = lab.checkpoint(Asked.of(lab, source).after(After.EVICT));
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Held.class);
    held = (CheckpointOutcome.Held) outcome;
  }

  @AfterEach
  void stop() {
    source.close();
    lab.close();
  }

  @Test
  void anEvictedWorkloadIsFrozenUntilItsEndAndRestoredElsewhere() throws Exception {
    assertThat(source.running()).isTrue();
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      // By now the reader of its output has seen all of it.
      List<String> printed = source.lines();
      assertThat(lab.restore(held.artifact().path(), target))
          .isInstanceOf(RestoreOutcome.Proven.class);
      assertThat(source.running()).isTrue();
      assertThat(source.lines()).isEqualTo(printed);
      assertThat(lab.engine().evicted().end(source.id()))
          .isInstanceOfSatisfying(
              ThawOutcome.Ended.class,
              ended -> assertThat(ended.state().kind()).isEqualTo(SourceState.Kind.GONE));
      Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !source.running());
      lab.assertNothingLeft();
      target.awaitSteps(3);
      target.verify(MIB, printed);
    }
  }

  @Test
  void aThawInsteadOfTheEndLetsItGoOn() throws Exception {
    lab.thaw(source);
    lab.assertNothingLeft();
    assertThat(lab.artifacts()).hasSize(1);
    source.awaitSteps(3);
    source.verify(MIB);
    assertThat(lab.engine().evicted().end(source.id()))
        .isInstanceOfSatisfying(
            ThawOutcome.NotFound.class, none -> assertThat(none.why()).contains("got none"));
    assertThat(source.running()).isTrue();
  }
}
