package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What happens to a workload that runs again while the copy of its device memory is written. */
class DirectCopyTest {

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private ContainerSpec spec;

  @BeforeEach
  void start() {
    lab = new EngineLab(2, 256);
    spec = new DirectLab(lab).counter();
  }

  @AfterEach
  void stop() {
    lab.close();
  }

  /** What is done while the workload runs again and nothing of its copy is written yet. */
  private interface Meanwhile {
    void act() throws Exception;
  }

  private CheckpointOutcome checkpoint(GpuContainer source, Meanwhile meanwhile) throws Exception {
    KeeperProxy.Hook hook =
        new KeeperProxy.Hook() {
          @Override
          public void before(String command) throws Exception {
            if (command.equals("save")) {
              meanwhile.act();
            }
          }

          @Override
          public void after(String command) {}
        };
    try (KeeperProxy proxy = new KeeperProxy(lab, source.id(), hook)) {
      assertThat(proxy).isNotNull();
      return lab.checkpoint(Asked.of(lab, source));
    }
  }

  @Test
  void aWorkloadThatEndsMeanwhileIsRestored() throws Exception {
    CheckpointOutcome outcome;
    List<String> before = new ArrayList<>();
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      outcome =
          checkpoint(
              source,
              () -> {
                source.end();
                before.addAll(source.lines());
              });
    }
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      assertThat(lab.restore(((CheckpointOutcome.Published) outcome).artifact().path(), target))
          .isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(5);
      target.verify(DirectLab.MIB, before);
    }
    lab.assertNothingLeft();
  }

  @Test
  void anotherCheckpointOrAnEvictionIsRefusedMeanwhile() throws Exception {
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      CheckpointOutcome outcome =
          checkpoint(
              source,
              () -> {
                for (After after : List.of(After.RESUME, After.EVICT)) {
                  assertThat(lab.checkpoint(Asked.of(lab, source).after(after)))
                      .isInstanceOfSatisfying(
                          CheckpointOutcome.Refused.class,
                          refused ->
                              assertThat(refused.unmet().toString())
                                  .contains("another operation is running on container"));
                }
              });
      assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
      source.awaitSteps(3);
      source.verify(DirectLab.MIB);
    }
    lab.assertNothingLeft();
  }
}
