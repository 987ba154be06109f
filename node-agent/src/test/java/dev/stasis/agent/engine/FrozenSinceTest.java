package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The time until a GPU is free does not contain the preparations, which may take minutes. */
class FrozenSinceTest {

  @Test
  void theRecordHasTheTimeOfTheFreeze() throws Exception {
    Instant freeze = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    AtomicReference<Instant> now = new AtomicReference<>(freeze.minus(Duration.ofMinutes(5)));
    AtomicReference<Instant> since = new AtomicReference<>();
    InstantSource clock = now::get;
    StageListener preparing =
        new StageListener() {
          @Override
          public void begins(Path folder) {
            now.set(freeze);
          }

          @Override
          public void grew(Path file, long bytes) {}

          @Override
          public void finished(Path folder) {}
        };
    try (EngineLab lab = new EngineLab(1, 64);
        GpuContainer source =
            GpuContainer.start(
                ContainerSpec.counter(lab.gpus(), "--mib", "8", "--interval-ms", "100"))) {
      source.awaitSteps(2);
      HookedStep.Hook hook =
          (moment, step) -> {
            if (moment == Moment.BEFORE && step.equals("offload")) {
              since.set(lab.engine().thaw().inHand().get(0).since());
            }
          };
      Checkpoint checkpoint =
          new Checkpoint(
              LabParts.clock(lab, clock.withZone(ZoneOffset.UTC)),
              HookedStep.all(Checkpoint.steps(), hook));

      CheckpointOutcome outcome =
          checkpoint.run(
              Asked.of(lab, source).request(), EngineLab.control(), StepListener.NONE, preparing);

      assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
      assertThat(since.get()).isEqualTo(freeze);
    }
  }
}
