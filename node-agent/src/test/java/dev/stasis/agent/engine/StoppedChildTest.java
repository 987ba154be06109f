package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.IdleChild;
import org.junit.jupiter.api.Test;

/** What the workload itself has stopped is stopped after a freeze, and in a restored one. */
class StoppedChildTest {

  @Test
  void aStoppedChildStaysStoppedUntilItIsContinued() throws Exception {
    try (EngineLab lab = new EngineLab(1, 96)) {
      ContainerSpec spec =
          ContainerSpec.counter(lab.gpus(), "--mib", "8", "--interval-ms", "100", IdleChild.OPTION);
      CheckpointOutcome.Published published;
      try (GpuContainer source = GpuContainer.start(spec)) {
        source.awaitSteps(2);
        IdleChild child = new IdleChild(source.pid());
        child.stop();
        published = lab.published(Asked.of(lab, source));
        source.awaitSteps(2);
        assertThat(child.state()).as("in place").isEqualTo('T');
      }
      try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
        RestoreOutcome outcome = lab.restore(published.artifact().path(), target);
        assertThat(outcome).isInstanceOf(RestoreOutcome.Proven.class);
        target.awaitSteps(2);
        IdleChild child = new IdleChild(((RestoreOutcome.Proven) outcome).init());
        assertThat(child.state()).as("restored").isEqualTo('T');
        child.goOn();
      }
    }
  }
}
