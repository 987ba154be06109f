package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Nothing of a workload runs from an artifact that is not whole, or not for whoever asks. */
class DamagedArtifactTest {

  private static final int MIB = 16;

  private static final String REGION = "regions/1.data";

  /** The polynomial of CRC32C in its order of bits. */
  private static final byte[] CRC32C_STAYS = {(byte) 0xf1, 0x76, (byte) 0xec, 0x05, 0x01};

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static ContainerSpec spec;

  @SuppressWarnings("NullAway.Init")
  private static Path good;

  @BeforeAll
  static void save() throws InterruptedException {
    lab = new EngineLab(1, 96);
    spec = ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100");
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(2);
      good = lab.published(Asked.of(lab, source)).artifact().path();
    }
  }

  @AfterAll
  static void close() {
    lab.close();
  }

  private static Path copy() {
    Path copy = lab.store().resolve("copy-" + UUID.randomUUID().toString().substring(0, 8));
    new Sh().must("cp", "-a", good.toString(), copy.toString());
    return copy;
  }

  private static void flip(Path file, long at) {
    change(file, at, new byte[] {1});
  }

  private static void change(Path file, long at, byte[] bits) {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      byte[] changed = new byte[bits.length];
      bytes.seek(at);
      bytes.readFully(changed);
      for (int i = 0; i < bits.length; i++) {
        changed[i] ^= bits[i];
      }
      bytes.seek(at);
      bytes.write(changed);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Each file in its turn, the same target each time: nothing has touched it. */
  @Test
  void aFlippedBitInAnyFileThatCriuReadsIsRefusedBeforeAnyProcessIsCreated() throws Exception {
    Path damaged = copy();
    List<String> files = files(damaged);
    assertThat(files)
        .contains("manifest.json", "regions/1.chunks", "layer/root.tar")
        .anyMatch(file -> file.startsWith("criu/pages-"));
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      List<String> before = target.namesBelowUpper();
      Path criu = new WrappedProgram(lab.folder()).failing("criu");
      for (String file : files) {
        long at = Files.size(damaged.resolve(file)) / 2;
        flip(damaged.resolve(file), at);

        RestoreOutcome outcome =
            EngineLab.restore(new Restore(LabParts.criu(lab, criu)), damaged, target);

        assertThat(outcome)
            .as(file)
            .isInstanceOfSatisfying(
                RestoreOutcome.Refused.class,
                refused ->
                    assertThat(refused.unmet().toString())
                        .contains(file.startsWith("manifest") ? "manifest" : file));
        flip(damaged.resolve(file), at);
      }
      assertThat(target.namesBelowUpper()).isEqualTo(before);
      lab.assertNothingLeft();
      assertThat(lab.restore(damaged, target)).isInstanceOf(RestoreOutcome.Proven.class);
    }
  }

  /** Those that have a byte, without the memory of regions, by their names in the folder. */
  private static List<String> files(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
          .filter(file -> file.toFile().length() > 0)
          .map(file -> folder.relativize(file).toString())
          .filter(file -> !file.equals(REGION))
          .sorted()
          .toList();
    }
  }

  /** Not even a change that leaves the CRC32C of its chunk as it was. */
  @Test
  void aDamagedRegionEndsTheRestoreBeforeAnythingRuns() throws Exception {
    Path damaged = copy();
    change(damaged.resolve(REGION), 12L << 20, CRC32C_STAYS);
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      assertThat(lab.restore(damaged, target))
          .isInstanceOfSatisfying(
              RestoreOutcome.Failed.class,
              failed -> {
                assertThat(failed.step()).isEqualTo("fill");
                assertThat(failed.reason()).isEqualTo(Reason.ARTIFACT_REFUSED);
                assertThat(failed.message()).contains(REGION, "chunk 1 has a wrong digest");
              });
      if (lab.parts().containers().resolve(target.id()) instanceof Resolution.Found found) {
        assertThat(lab.parts().tree().list(found.container()).living())
            .allMatch(process -> process.equals(found.container().init()));
      }
      assertThat(target.lines()).isEmpty();
      lab.assertNothingLeft();
    }
  }

  @Test
  void aMissingFileIsRefused() throws Exception {
    Path damaged = copy();
    Files.delete(damaged.resolve("criu/pstree.img"));
    refused(damaged, "pstree.img");
  }

  @Test
  void anotherNamespacesArtifactIsRefused() throws Exception {
    Path foreign;
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(2);
      CheckpointRequest usual = Asked.of(lab, source).request();
      CheckpointOutcome outcome =
          lab.engine()
              .checkpoint()
              .run(
                  new CheckpointRequest(
                      usual.id(),
                      usual.name(),
                      usual.owner(),
                      "team-a",
                      usual.container(),
                      usual.store(),
                      usual.after(),
                      usual.options(),
                      null,
                      usual.packedMounts()),
                  EngineLab.control(),
                  StepListener.NONE);
      foreign = ((CheckpointOutcome.Published) outcome).artifact().path();
    }
    refused(foreign, "team-a");
  }

  private static void refused(Path artifact, String because) throws InterruptedException {
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      assertThat(lab.restore(artifact, target))
          .isInstanceOfSatisfying(
              RestoreOutcome.Refused.class,
              refused -> assertThat(refused.unmet().toString()).contains(because));
      assertThat(target.running()).isTrue();
      lab.assertNothingLeft();
    }
  }
}
