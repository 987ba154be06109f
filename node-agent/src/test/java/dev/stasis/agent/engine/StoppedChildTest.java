package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.IdleChild;
import dev.stasis.artifact.ProcessFacts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the workload itself has stopped is stopped after a freeze, and in a restored one. */
class StoppedChildTest {

  /** Continues the child once the workload is stopped, and ends a second later. */
  private static final String PROBE =
      "echo $$ > \"$0/cgroup.procs\";"
          + " until grep -q '^State:.T' /proc/$1/status; do sleep 0.01; done;"
          + " kill -CONT $2; exec sleep 1";

  @Test
  void aStoppedChildStaysStoppedUntilItIsContinued() throws Exception {
    try (EngineLab lab = new EngineLab(1, 96)) {
      ContainerSpec spec = spec(lab);
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

  /** An exec probe of the kubelet keeps the freeze waiting. */
  @Test
  void aStoppedChildThatIsContinuedWhileTheFreezeWaitsRunsAfterIt() throws Exception {
    try (EngineLab lab = new EngineLab(1, 96);
        GpuContainer source = GpuContainer.start(spec(lab))) {
      source.awaitSteps(2);
      IdleChild child = new IdleChild(source.pid());
      child.stop();
      List<Process> probes = new ArrayList<>();
      HookedStep.Hook hook =
          (moment, step) -> {
            if (moment == HookedStep.Moment.BEFORE && step.equals(StopStep.NAME)) {
              startProbe(lab, source, child, probes);
            }
          };
      try {
        Checkpoint checkpoint =
            new Checkpoint(lab.parts(), HookedStep.all(Checkpoint.steps(), hook));
        assertThat(EngineLab.checkpoint(checkpoint, Asked.of(lab, source)))
            .isInstanceOfSatisfying(
                CheckpointOutcome.Published.class,
                published ->
                    assertThat(published.artifact().manifest().processes())
                        .noneMatch(ProcessFacts::wasStopped));
        assertThat(probes).hasSize(1);
        assertThat(child.state()).isNotEqualTo('T');
      } finally {
        probes.forEach(Process::destroyForcibly);
      }
      source.awaitSteps(2);
      source.verify(8);
    }
  }

  private static ContainerSpec spec(EngineLab lab) {
    return ContainerSpec.counter(
        lab.gpus(), "--mib", "8", "--interval-ms", "100", IdleChild.OPTION);
  }

  private static void startProbe(
      EngineLab lab, GpuContainer source, IdleChild child, List<Process> probes) {
    Container container =
        ((Resolution.Found) lab.parts().containers().resolve(source.id())).container();
    String cgroup = container.cgroups().get(0).folder().toString();
    try {
      probes.add(
          new ProcessBuilder("sh", "-c", PROBE, cgroup, "" + source.pid(), "" + child.pid())
              .start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    await("a process in the cgroup")
        .atMost(Duration.ofSeconds(60))
        .until(() -> !lab.parts().tree().list(container).foreign().isEmpty());
  }
}
