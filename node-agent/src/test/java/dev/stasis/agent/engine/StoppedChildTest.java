package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the workload itself has stopped is stopped after a freeze, and in a restored one. */
class StoppedChildTest {

  private static final String CHILD = "idle-child";

  private final ProcFs proc = new ProcFs();

  @Test
  void aStoppedChildStaysStoppedUntilItIsContinued() throws Exception {
    try (EngineLab lab = new EngineLab(1, 96)) {
      ContainerSpec spec =
          ContainerSpec.counter(lab.gpus(), "--mib", "8", "--interval-ms", "100", "--idle-child");
      CheckpointOutcome.Published published;
      try (GpuContainer source = GpuContainer.start(spec)) {
        source.awaitSteps(2);
        stop(source.pid());
        published = lab.published(Asked.of(lab, source));
        source.awaitSteps(2);
        assertThat(child(source.pid()).state()).as("in place").isEqualTo('T');
      }
      try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
        RestoreOutcome outcome = lab.restore(published.artifact().path(), target);
        assertThat(outcome).isInstanceOf(RestoreOutcome.Proven.class);
        target.awaitSteps(2);
        int root = ((RestoreOutcome.Proven) outcome).init();
        assertThat(child(root).state()).as("restored").isEqualTo('T');
        signal("-CONT", root);
        awaitState(root, 'S');
      }
    }
  }

  private void stop(int parent) {
    signal("-STOP", parent);
    awaitState(parent, 'T');
  }

  private void signal(String which, int parent) {
    new Sh().must("kill", which, Integer.toString(child(parent).pid()));
  }

  private void awaitState(int parent, char state) {
    // A signal arrives in microseconds; a busy machine is given time.
    await().atMost(Duration.ofSeconds(60)).until(() -> child(parent).state() == state);
  }

  private ProcessStat child(int parent) {
    return proc.children(parent).stream()
        .filter(stat -> stat.comm().equals(CHILD))
        .findFirst()
        .orElseThrow();
  }
}
