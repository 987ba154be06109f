package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;

/**
 * A lab in which two processes of one container, with a deleted file open, count on a GPU: one
 * workload that bears all that a class of tests does to it.
 */
record CountingLab(EngineLab lab, GpuContainer source) implements AutoCloseable {

  private static final int MIB = 16;

  static CountingLab start() {
    EngineLab lab = new EngineLab(1, 128);
    GpuContainer source =
        GpuContainer.start(
            ContainerSpec.counter(
                lab.gpus(),
                "--mib",
                "" + MIB,
                "--interval-ms",
                "100",
                "--fork",
                "1",
                "--threads",
                "1",
                "--deleted-file"));
    source.awaitSteps(3);
    return new CountingLab(lab, source);
  }

  /** It counts on with right numbers, and nothing of ours is left. */
  void runsOn() {
    lab.assertNothingLeft();
    assertThat(source.namesBelowUpper()).noneMatch(name -> name.startsWith("link_remap"));
    source.awaitSteps(3);
    source.verify(MIB);
  }

  @Override
  public void close() {
    source.close();
    lab.close();
  }
}
