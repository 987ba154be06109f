package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CheckpointTest {

  @ParameterizedTest
  @EnumSource
  void aWorkloadGoesOnWithRightNumbersAndComesBackInAnotherContainer(
      CheckpointRequest.DataPathChoice path) throws Exception {
    try (EngineLab lab = new EngineLab(1, 128)) {
      ContainerSpec spec = ContainerSpec.counter(lab.gpus(), "--mib", "32", "--interval-ms", "50");
      CheckpointOutcome outcome;
      try (GpuContainer source = GpuContainer.start(spec)) {
        source.awaitSteps(3);
        outcome = lab.checkpoint(lab.request(source.id(), After.RESUME, path));
        System.err.println(outcome);
        assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
        source.awaitSteps(3);
      }
      CheckpointOutcome.Published published = (CheckpointOutcome.Published) outcome;
      System.err.println(published.figures().timings().asMap());
      try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
        RestoreOutcome restored = lab.restore(published.artifact().path(), target.id());
        System.err.println(restored);
        assertThat(restored).isInstanceOf(RestoreOutcome.Proven.class);
        target.awaitSteps(3);
        System.err.println(target.lines());
        assertThat(target.running()).isTrue();
      }
    }
  }
}
