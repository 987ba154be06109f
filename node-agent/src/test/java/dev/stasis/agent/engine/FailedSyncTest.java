package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.engine.CheckpointRequest.StagePlace;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import dev.stasis.agent.testing.SmallDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The disk of the store loses what was written to it, because the memory below it is full. Linux
 * reports that to the first sync only.
 */
class FailedSyncTest {

  /** So little that the copies are synced at the end only: an earlier failure is repeated. */
  private static final int MIB = 4;

  private final EngineLab lab = new EngineLab(1, 128);

  @SuppressWarnings("NullAway.Init") // made before each test
  private SmallDisk below;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Path store;

  @BeforeEach
  void mount() throws IOException {
    assumeTrue(
        Files.exists(Path.of("/dev/loop-control")),
        "needs loop devices: load the kernel module loop");
    Path memory = Files.createDirectory(lab.folder().resolve("memory"));
    below = new SmallDisk(memory, 500);
    String image = memory.resolve("image").toString();
    store = Files.createDirectory(lab.folder().resolve("disk"));
    Sh sh = new Sh();
    sh.must("truncate", "--size", "400M", image);
    // Without a journal, which could not be written either, and would end all later writes.
    sh.must("mkfs.ext4", "-q", "-F", "-O", "^has_journal", image);
    sh.must("mount", "-o", "loop", image, store.toString());
    Files.delete(store.resolve("lost+found"));
  }

  @AfterEach
  void close() {
    try {
      new Sh().must("umount", store.toString());
      // The kernel lets go of the image a moment later.
      await().atMost(Duration.ofSeconds(60)).ignoreExceptions().untilAsserted(() -> below.close());
    } finally {
      lab.close();
    }
  }

  private GpuContainer start() {
    GpuContainer source =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100"));
    source.awaitSteps(3);
    return source;
  }

  /** Its disk loses the artifact once the capture is complete. */
  private CheckpointOutcome.Failed checkpoint(GpuContainer source, After after)
      throws InterruptedException {
    CheckpointOutcome outcome =
        new Checkpoint(lab.parts())
            .run(
                Asked.of(lab, source)
                    .to(store)
                    .staged(StagePlace.MEMORY)
                    .by(DataPathChoice.MOVER)
                    .after(after)
                    .request(),
                EngineLab.control(),
                (step, done, total) -> {
                  if (step.equals("tidy") || step.equals("hash")) {
                    below.fill();
                  }
                });
    assertThat(outcome).as(outcome.toString()).isInstanceOf(CheckpointOutcome.Failed.class);
    CheckpointOutcome.Failed failed = (CheckpointOutcome.Failed) outcome;
    assertThat(failed.message()).contains("cannot sync");
    assertThat(failed.artifact()).isNull();
    return failed;
  }

  private SourceState.Kind thawed(GpuContainer source) throws InterruptedException {
    ThawOutcome outcome = lab.engine().thaw().run(source.id(), StepListener.NONE);
    assertThat(outcome).isInstanceOf(ThawOutcome.Ended.class);
    return ((ThawOutcome.Ended) outcome).state().kind();
  }

  @ParameterizedTest
  @EnumSource
  void theWorkloadKeepsItsMemoryAndTheStageIsDeleted(After after) throws Exception {
    try (GpuContainer source = start()) {
      assertThat(checkpoint(source, after).source().kind()).isEqualTo(SourceState.Kind.RUNNING);

      assertThat(store).isEmptyDirectory();
      lab.assertNothingLeft();
      source.awaitSteps(3);
      source.verify(MIB);
    }
  }

  @ParameterizedTest
  @EnumSource
  void noLaterAttemptPublishesTheArtifactAlthoughItsSyncsSucceed(After after) throws Exception {
    try (GpuContainer source = start()) {
      lab.gpus().fault("unlock", "failed");
      assertThat(checkpoint(source, after).source().kind()).isEqualTo(SourceState.Kind.UNKNOWN);
      Work work = lab.engine().thaw().inHand().get(0);
      below.free();

      assertThat(lab.engine().interruptedPublication().complete(work)).isFalse();
      source.end();
      assertThat(thawed(source)).isEqualTo(SourceState.Kind.GONE);
      assertThat(store).isEmptyDirectory();
      lab.assertNothingLeft();
    }
  }
}
