package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Opened;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A lab with the artifact of a workload of two processes: every test of a class restores it into a
 * target of its own.
 *
 * @param mib the device memory of each of its processes
 * @param before all that the workload had printed, also beyond the moment of its checkpoint
 */
record SavedLab(
    EngineLab lab,
    ContainerSpec spec,
    int mib,
    CheckpointOutcome.Published published,
    List<String> before)
    implements AutoCloseable {

  static SavedLab save() throws InterruptedException {
    return save(16);
  }

  /**
   * A lab with a workload that was saved.
   *
   * @param mib the device memory of each of its processes
   */
  static SavedLab save(int mib) throws InterruptedException {
    EngineLab lab = new EngineLab(1, 10 * mib);
    ContainerSpec spec =
        ContainerSpec.counter(
            lab.gpus(), "--mib", "" + mib, "--interval-ms", "100", "--fork", "1", "--threads", "1");
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      CheckpointOutcome.Published published = lab.published(Asked.of(lab, source));
      source.awaitSteps(2);
      return new SavedLab(lab, spec, mib, published, source.lines());
    }
  }

  GpuContainer target() {
    return GpuContainer.start(spec.asHolder());
  }

  Path artifact() {
    return published.artifact().path();
  }

  RestoreOutcome restore(NodeParts parts, GpuContainer target) throws InterruptedException {
    return EngineLab.restore(new Restore(parts), artifact(), target);
  }

  /**
   * Only the holder is left, or it has ended with the workload, as it does; and the artifact is
   * unharmed.
   */
  void nothingRunsIn(GpuContainer target) throws IOException {
    if (lab.parts().containers().resolve(target.id()) instanceof Resolution.Found found) {
      assertThat(lab.parts().tree().list(found.container()).living())
          .allMatch(process -> process.equals(found.container().init()));
    }
    assertThat(target.holderFolder().resolve("restored")).doesNotExist();
    lab.assertNothingLeft();
    assertThat(
            new ArtifactReader(2, (done, total) -> {})
                .open(artifact(), published.artifact().sha256()))
        .isInstanceOf(Opened.Verified.class);
  }

  /** It counts on with right numbers. */
  void runsIn(GpuContainer target) {
    target.awaitSteps(3);
    target.verify(mib, before);
    lab.assertNothingLeft();
  }

  /** It can be restored into another container. */
  void isRestoredElsewhere() throws InterruptedException {
    try (GpuContainer other = target()) {
      assertThat(lab.restore(artifact(), other)).isInstanceOf(RestoreOutcome.Proven.class);
      runsIn(other);
    }
  }

  @Override
  public void close() {
    lab.close();
  }
}
