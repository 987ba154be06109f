package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A process keeps its other threads until the stop, and one of them may execute a program. */
class ReplacedProgramTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Test
  void aProgramThatIsReplacedBeforeTheStopIsNotSavedAndTheOthersRunAgain() throws Exception {
    try (EngineLab lab = new EngineLab(1, 96);
        GpuContainer source =
            GpuContainer.start(
                ContainerSpec.counter(
                    lab.gpus(), "--mib", "8", "--interval-ms", "100", "--fork", "1"))) {
      source.awaitSteps(3);
      HookedStep.Hook hook =
          (moment, step) -> {
            if (moment == Moment.BEFORE && step.equals(StopStep.NAME)) {
              replaceChild(lab, lab.parts().journal().read(source.id()).orElseThrow());
            }
          };
      Checkpoint checkpoint = new Checkpoint(lab.parts(), HookedStep.all(Checkpoint.steps(), hook));

      CheckpointOutcome outcome =
          EngineLab.checkpoint(checkpoint, Asked.of(lab, source).after(After.EVICT));

      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.message()).contains("got other programs");
                assertThat(failed.source().kind())
                    .as(failed.source().detail())
                    .isEqualTo(SourceState.Kind.RUNNING);
              });
      assertThat(lab.artifacts()).isEmpty();
      lab.assertNothingLeft();
      source.awaitSteps(3);
    }
  }

  private static void replaceChild(EngineLab lab, Work work) {
    List<ProcessId> cuda = work.cuda().stream().map(CudaProcess::process).toList();
    assertThat(cuda).hasSize(2);
    ProcessId child =
        cuda.stream().filter(one -> !one.equals(work.init())).findFirst().orElseThrow();
    new Sh().must("kill", "-USR2", "" + child.pid());
    Awaitility.await("the other program")
        .atMost(LIMIT)
        .until(() -> lab.parts().proc().command(child.pid()).contains("--pause"));
  }
}
