package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.engine.CheckpointRequest.StagePlace;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The store's disk is too small, or somebody fills it up in the middle of a step. */
class FullDiskTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @SuppressWarnings("NullAway.Init")
  private static Path disk;

  @BeforeAll
  static void start() throws IOException {
    lab = new EngineLab(1, 128);
    source =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100"));
    source.awaitSteps(3);
    disk = Files.createDirectory(lab.folder().resolve("disk"));
  }

  @AfterEach
  void unmount() throws InterruptedException {
    try {
      if (!lab.engine().thaw().inHand().isEmpty()) {
        lab.thaw(source);
      }
    } finally {
      new Sh().must("umount", disk.toString());
    }
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  private static Path store(int mib) throws IOException {
    new Sh().must("mount", "-t", "tmpfs", "-o", "size=" + mib + "m", "tmpfs", disk.toString());
    return Files.createDirectory(disk.resolve("store"));
  }

  @Test
  void aDiskThatIsTooSmallIsRefusedWithBothNumbers() throws Exception {
    assertThat(lab.checkpoint(Asked.of(lab, source).to(store(40))))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Refused.class,
            refused ->
                assertThat(refused.unmet().toString())
                    .contains("store")
                    .containsPattern("[0-9]{7}"));
    runsOn();
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({"dump, DISK, MOVER", "hash, MEMORY, MOVER"})
  void aDiskThatRunsFullAtAnyOtherStepCostsTheArtifactAlone(
      String step, StagePlace stage, DataPathChoice path) throws Exception {
    aDiskThatRunsFullCostsTheArtifactAlone(step, stage, path);
  }

  @ParameterizedTest
  @CsvSource({
    "move, DISK, MOVER",
    "dump, MEMORY, CRIU",
    "layer, MEMORY, MOVER",
    "publish, MEMORY, MOVER",
  })
  void aDiskThatRunsFullCostsTheArtifactAlone(String step, StagePlace stage, DataPathChoice path)
      throws Exception {
    Path store = store(400);
    CheckpointOutcome outcome =
        new Checkpoint(lab.parts())
            .run(
                Asked.of(lab, source).to(store).staged(stage).by(path).request(),
                EngineLab.control(),
                (name, done, total) -> {
                  if (name.equals(step)) {
                    fill(disk.resolve("other"));
                  }
                });
    assertThat(outcome)
        .as(outcome.toString())
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed ->
                assertThat(failed.source().kind())
                    .as(failed.message() + failed.source())
                    .isEqualTo(SourceState.Kind.RUNNING));
    try (var left = Files.list(store)) {
      assertThat(left).isEmpty();
    }
    runsOn();
  }

  private static void fill(Path file) {
    if (Files.exists(file)) {
      return;
    }
    try (OutputStream out = Files.newOutputStream(file)) {
      byte[] block = new byte[1 << 16];
      // Once: Java reads all mounts of the machine to find it.
      FileStore store = Files.getFileStore(file);
      for (long left = store.getUsableSpace(); left > 0; left = store.getUsableSpace()) {
        out.write(block, 0, (int) Math.min(block.length, left));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void runsOn() {
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }
}
