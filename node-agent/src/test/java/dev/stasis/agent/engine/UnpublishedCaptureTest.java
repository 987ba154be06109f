package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.engine.CheckpointRequest.StagePlace;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.SmallDisk;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.Progress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The store is full when it is to take the capture of a workload that cannot be thawed. */
class UnpublishedCaptureTest {

  private final EngineLab lab = new EngineLab(1, 128);

  @AfterEach
  void close() {
    lab.close();
  }

  private SourceState.Kind thawed(GpuContainer source) throws InterruptedException {
    ThawOutcome outcome = lab.engine().thaw().run(source.id(), StepListener.NONE);
    assertThat(outcome).isInstanceOf(ThawOutcome.Ended.class);
    return ((ThawOutcome.Ended) outcome).state().kind();
  }

  @ParameterizedTest
  @EnumSource
  void theStageOfAWorkloadThatHasEndedStaysUntilItIsPublished(After after) throws Exception {
    Path folder = Files.createDirectory(lab.folder().resolve("disk"));
    try (SmallDisk disk = new SmallDisk(folder, 400);
        GpuContainer source =
            GpuContainer.start(
                ContainerSpec.counter(lab.gpus(), "--mib", "16", "--interval-ms", "100"))) {
      source.awaitSteps(3);
      lab.gpus().fault("unlock", "failed");
      CheckpointOutcome outcome =
          new Checkpoint(lab.parts())
              .run(
                  Asked.of(lab, source)
                      .to(folder)
                      .staged(StagePlace.MEMORY)
                      .by(DataPathChoice.MOVER)
                      .after(after)
                      .request(),
                  EngineLab.control(),
                  (step, done, total) -> {
                    // The capture is complete by then.
                    if (step.equals("tidy") || step.equals("hash")) {
                      disk.fill();
                    }
                  });
      assertThat(outcome)
          .as(outcome.toString())
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.UNKNOWN);
                assertThat(failed.artifact()).isNull();
              });
      Work work = lab.engine().thaw().inHand().get(0);

      source.end();
      assertThat(thawed(source)).isEqualTo(SourceState.Kind.UNKNOWN);
      lab.engine().thaw().removeStagesOfEnded();
      Path stage = Path.of(Objects.requireNonNull(work.artifactStage()));
      assertThat(stage).isDirectory();
      assertThat(lab.engine().artifactUse().of(stage)).as("what a sweep asks").isPresent();
      disk.free();

      assertThat(thawed(source)).isEqualTo(SourceState.Kind.GONE);
      assertThat(
              new ArtifactReader(Progress.NONE)
                  .open(Path.of(Objects.requireNonNull(work.artifact())), null))
          .isInstanceOf(Opened.Verified.class);
      lab.assertNothingLeft();
    }
  }
}
