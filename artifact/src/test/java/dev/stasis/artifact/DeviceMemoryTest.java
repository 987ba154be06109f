package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Device memory of the direct path is part of an artifact, and is checked like everything else. */
class DeviceMemoryTest {

  private static final int LENGTH = 2 << 20;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path folder;

  private Path saved(byte first) throws IOException {
    Path prefix = folder.resolve("saved-" + first);
    byte[] bytes = new byte[LENGTH];
    bytes[0] = first;
    Path data = Files.write(Path.of(prefix + ".data"), bytes);
    Hasher.Digests digests = digests(data);
    Files.writeString(
        Path.of(prefix + ".chunks"),
        "stasis-device 1\nR 0 7 7f0000000000 %d\nC 0 0 0 %d 0 %08x %s\nend 1\n"
            .formatted(LENGTH, LENGTH, digests.crc32c(), digests.sha256()));
    return prefix;
  }

  private static Hasher.Digests digests(Path data) throws IOException {
    try (var channel = Hasher.openForReading(data)) {
      return new Hasher(Progress.NONE, LENGTH)
          .chunk(
              new Chunk(0, 0, LENGTH, 0, 1, InterleavedSha256.PREFIX + "0".repeat(64)),
              channel,
              null);
    }
  }

  private ArtifactStage.SealedArtifact sealed(Path prefix) throws IOException {
    try (ArtifactStage stage =
        new ArtifactStore(folder.resolve("store"), Clock.systemUTC()).stage("a")) {
      stage.addDeviceMemory("/lib/gate.so", 42, prefix, 1, Progress.NONE);
      return stage.seal(new Samples().draft(), 1, Progress.NONE);
    }
  }

  private static Opened opened(Path artifact) throws IOException {
    return new ArtifactReader(1, Progress.NONE).open(artifact, null);
  }

  @Test
  void anOlderAgentRefusesItByItsFormat() throws IOException {
    Files.createDirectories(folder.resolve("store"));
    ArtifactStage.SealedArtifact sealed = sealed(saved((byte) 1));
    assertThat(sealed.manifest().formatVersion()).isEqualTo(4);
    assertThat(opened(sealed.path()))
        .isInstanceOfSatisfying(
            Opened.Verified.class,
            whole -> {
              DeviceMemory device = Objects.requireNonNull(whole.artifact().manifest().device());
              assertThat(device.bytes()).isEqualTo(LENGTH);
              assertThat(device.library()).isEqualTo("/lib/gate.so");
            });
  }

  @Test
  void aDamagedByteIsFound() throws IOException {
    Files.createDirectories(folder.resolve("store"));
    Path artifact = sealed(saved((byte) 1)).path();
    byte[] bytes = new byte[LENGTH];
    bytes[0] = 2;
    Files.write(artifact.resolve("device/42.data"), bytes);
    assertThat(opened(artifact))
        .isInstanceOfSatisfying(
            Opened.Refused.class, damaged -> assertThat(damaged.message()).contains("42.data"));
  }

  @Test
  void deviceMemoryThatChangedSinceItsSaveIsRefused() throws IOException {
    Files.createDirectories(folder.resolve("store"));
    Path prefix = saved((byte) 1);
    Files.write(Path.of(prefix + ".data"), new byte[LENGTH]);
    assertThatThrownBy(() -> sealed(prefix)).hasMessageContaining("crc32c");
  }
}
