package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArtifactRoundTripTest {
  @TempDir Path temp = Path.of("/");
  private final Samples samples = new Samples();
  private Path folder = temp;
  private ArtifactStore store = new ArtifactStore(temp, Clock.systemUTC());

  @BeforeEach
  void makeAStore() throws IOException {
    folder = Files.createDirectory(temp.resolve("store"));
    store = new ArtifactStore(folder, Clock.systemUTC());
  }

  @Test
  void aSealedArtifactIsReadBackUnchanged() throws Exception {
    ArtifactStage.SealedArtifact sealed = samples.sealed(store, "train-1", temp);

    Opened opened =
        new ArtifactReader(2, Progress.NONE).open(store.path("train-1"), sealed.sha256());

    assertThat(opened).isInstanceOf(Opened.Verified.class);
    Artifact artifact = ((Opened.Verified) opened).artifact();
    assertThat(artifact.manifest()).isEqualTo(sealed.manifest());
    assertThat(artifact.manifest().origin()).isEqualTo(samples.draft().origin());
    assertThat(artifact.manifest().files())
        .containsOnlyKeys(
            "criu/inventory.img", "criu/pages-1.img", "layer/root.tar", "regions/1.chunks");
    assertThat(artifact.chunks(artifact.manifest().regions().get(0)).storedBytes())
        .isEqualTo(7 * 4096);
    assertThat(Files.readAllBytes(artifact.data(artifact.manifest().regions().get(0))))
        .isEqualTo(Files.readAllBytes(temp.resolve("train-1.stage")));
  }

  @Test
  void aWorldWritableFileIsAccessibleToRootOnlyOnceSealed() throws Exception {
    try (ArtifactStage stage = store.stage("a")) {
      samples.fill(stage);
      Files.setPosixFilePermissions(
          stage.criu().resolve("pages-1.img"), PosixFilePermissions.fromString("rw-rw-rw-"));
      stage.seal(samples.draft(), 1, Progress.NONE);
    }

    Opened opened = new ArtifactReader(1, Progress.NONE).open(store.path("a"), null);
    assertThat(opened).isInstanceOf(Opened.Verified.class);
  }

  @Test
  void nothingButTheArtifactIsLeftAndOnlyRootCanEnter() throws Exception {
    samples.sealed(store, "a", temp);

    try (var entries = Files.list(folder)) {
      assertThat(entries).containsExactly(store.path("a"));
    }
    assertThat(Files.getPosixFilePermissions(store.path("a")))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  void theDigestEqualsSha256sumOfTheManifest() throws Exception {
    samples.sealed(store, "a", temp);

    Process sum =
        new ProcessBuilder("sha256sum", "-c", Manifest.DIGEST_FILE_NAME)
            .directory(store.path("a").toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(sum.getInputStream().readAllBytes());
    assertThat(sum.waitFor()).as(said).isZero();
  }

  @Test
  void stagedRegionsAreNotCopiedAgain() throws Exception {
    try (ArtifactStage stage = store.stage("a")) {
      samples.fill(stage);
      ChunkTable table = samples.stage(stage.regionData(1), 5, 4096);
      Object before = Files.getAttribute(stage.regionData(1), "unix:ino");

      RegionSet set = stage.addRegions(1, stage.regionData(1), table, List.of(), 1, Progress.NONE);

      stage.seal(samples.draft(), 1, Progress.NONE);
      assertThat(Files.getAttribute(store.path("a").resolve(set.data()), "unix:ino"))
          .isEqualTo(before);
    }
  }

  @Test
  void digestsComputedDuringStagingAreNotComputedAgain() throws Exception {
    try (ArtifactStage first = store.stage("first");
        ArtifactStage stage = store.stage("a")) {
      samples.fill(stage);
      ChunkTable plain = samples.stage(stage.regionData(1), 5, 4096);
      Files.copy(stage.regionData(1), first.regionData(1));
      RegionSet hashed =
          first.addRegions(1, first.regionData(1), plain, List.of(), 1, Progress.NONE);
      ChunkTable table =
          ChunkTable.parse(Files.readString(first.regionData(1).resolveSibling("1.chunks")));
      java.util.List<Long> read = new java.util.ArrayList<>();

      RegionSet set =
          stage.addRegions(
              1, stage.regionData(1), table, List.of(), 1, (done, total) -> read.add(done));

      assertThat(read).isEmpty();
      assertThat(set).isEqualTo(hashed);
      stage.seal(samples.draft(), 1, Progress.NONE);
    }
    assertThat(new ArtifactReader(1, Progress.NONE).open(store.path("a"), null))
        .isInstanceOf(Opened.Verified.class);
  }

  @Test
  void zerosStayHolesInTheArtifact() throws Exception {
    try (ArtifactStage stage = store.stage("a")) {
      Path data = temp.resolve("data");
      ChunkTable table =
          new ChunkTable(
              List.of(new Region(Samples.ADDRESS, 2 * Chunk.MAX_LENGTH)),
              List.of(
                  new Chunk(0, Samples.ADDRESS, Chunk.MAX_LENGTH, 0, null, null),
                  new Chunk(
                      1,
                      Samples.ADDRESS + Chunk.MAX_LENGTH,
                      Chunk.MAX_LENGTH,
                      Chunk.MAX_LENGTH,
                      null,
                      null)));
      try (java.io.RandomAccessFile file = new java.io.RandomAccessFile(data.toFile(), "rw")) {
        file.setLength(2 * Chunk.MAX_LENGTH);
      }

      RegionSet set = stage.addRegions(1, data, table, List.of(), 1, Progress.NONE);

      assertThat(set.dataSize()).isEqualTo(2 * Chunk.MAX_LENGTH);
      assertThat(set.storedBytes()).isZero();
      Process du = new ProcessBuilder("du", "-k", stage.regionData(1).toString()).start();
      assertThat(new String(du.getInputStream().readAllBytes())).startsWith("0\t");
    }
  }

  @Test
  void aChunkThatChangedInTheStageIsRefusedByItsNumber() throws Exception {
    try (ArtifactStage stage = store.stage("a")) {
      Path data = temp.resolve("data");
      ChunkTable table = samples.stage(data, 5, 4096);
      try (java.io.RandomAccessFile file = new java.io.RandomAccessFile(data.toFile(), "rw")) {
        file.seek(3 * 4096 + 17);
        file.write(~file.read());
      }

      assertThatThrownBy(() -> stage.addRegions(1, data, table, List.of(), 2, Progress.NONE))
          .hasMessageContaining("chunk 3: expected crc32c");
    }
  }

  @Test
  void tenThousandChunksGiveTheSameDigestsOnOneThreadAndOnFour() throws Exception {
    Path data = temp.resolve("data");
    ChunkTable table = samples.stage(data, 10_000, 512);
    try (ArtifactStage one = store.stage("one");
        ArtifactStage four = store.stage("four")) {
      one.addRegions(1, data, table, List.of(), 1, Progress.NONE);
      four.addRegions(1, data, table, List.of(), 4, Progress.NONE);
      Map<String, FileFacts> first = one.seal(samples.draft(), 1, Progress.NONE).manifest().files();
      Map<String, FileFacts> second =
          four.seal(samples.draft(), 4, Progress.NONE).manifest().files();

      assertThat(first).isEqualTo(second);
    }
    Opened opened = new ArtifactReader(4, Progress.NONE).open(store.path("one"), null);
    assertThat(opened).isInstanceOf(Opened.Verified.class);
  }

  @Test
  void progressEndsAtTheTotal() throws Exception {
    List<Long> seen = new java.util.concurrent.CopyOnWriteArrayList<>();
    try (ArtifactStage stage = store.stage("a")) {
      samples.fill(stage);
      stage.seal(
          samples.draft(),
          2,
          (done, total) -> {
            assertThat(total).isEqualTo(9 + 5000 + 7);
            seen.add(done);
          });
    }
    assertThat(seen).contains(9L + 5000 + 7);
  }

  @Test
  void missingSpaceIsReportedWithBothSizes() throws Exception {
    assertThat(store.room(1).fits()).isTrue();
    StoreRoom none = store.room(Long.MAX_VALUE / 2);
    assertThat(none.fits()).isFalse();
    assertThat(none.message())
        .contains("expected " + none.needed())
        .contains(none.free() + " bytes");
  }

  @Test
  void aNameThatCouldLeaveTheStoreIsRefused() {
    for (String name : List.of("", ".", "..", "../x", "a/b", ".staging-x", "a\nb")) {
      assertThatThrownBy(() -> store.stage(name))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("artifact name: expected");
    }
  }
}
