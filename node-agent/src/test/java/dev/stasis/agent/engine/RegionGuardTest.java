package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.Refusal;
import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.Signal;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Nobody restores or unlocks a process while its memory lies in a stage, whoever asks. */
class RegionGuardTest {

  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @Test
  void restoreAndUnlockAreRefusedWhileAJournalIsNotWhole() throws Exception {
    try (EngineLab lab = new EngineLab(1, 96);
        GpuContainer source =
            GpuContainer.start(
                ContainerSpec.counter(lab.gpus(), "--mib", "16", "--interval-ms", "100"))) {
      source.awaitSteps(2);
      ProcessId process = lab.parts().proc().id(source.pid()).orElseThrow();
      List<DriverAnswer<CudaCall>> answers = new ArrayList<>();
      // As toggle on the command line would: straight to the driver, the tree let go before.
      HookedStep.Hook hook =
          (moment, step) -> {
            if (moment == Moment.AFTER && step.equals("move")) {
              lab.parts().pids().open(process).orElseThrow().send(Signal.CONT);
              answers.add(lab.worker().restore(process, List.of(), DEADLINE));
              answers.add(lab.worker().unlock(process, DEADLINE));
              throw new StepFailure(Reason.CANCELLED, "seen enough");
            }
          };
      CheckpointOutcome outcome =
          EngineLab.checkpoint(
              new Checkpoint(lab.parts(), HookedStep.all(Checkpoint.steps(), hook)),
              Asked.of(lab, source).by(DataPathChoice.LOW_MEMORY));
      assertThat(answers)
          .hasSize(2)
          .allSatisfy(
              answer ->
                  assertThat(answer)
                      .isInstanceOfSatisfying(
                          DriverAnswer.Refused.class,
                          refused ->
                              assertThat(refused.refusal()).isEqualTo(Refusal.REGIONS_NOT_WHOLE)));
      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING));
      lab.assertNothingLeft();
      source.awaitSteps(3);
      source.verify(16);
    }
  }
}
