package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemoteArtifactsTest {
  private static final ArtifactId FIRST = new ArtifactId("ns-1", "artifact-1");
  private static final ArtifactId SECOND = new ArtifactId("ns-1", "artifact-2");
  private static final StoreKeys KEYS = StoreKeys.of("a", Map.of("a", SampleFolders.key(1)));
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-11-24T10:00:00Z"), ZoneOffset.UTC);

  @TempDir Path temp;

  private Path store;

  @BeforeEach
  void createStore() throws IOException {
    store = Files.createDirectory(temp.resolve("store"));
  }

  private RemoteArtifacts artifacts(StoreKeys keys) {
    return new RemoteArtifacts(new FolderBlobs(store), keys, Compression.ZSTD, CLOCK, 4);
  }

  private Path fetched(RemoteArtifacts artifacts, ArtifactId id) throws IOException {
    Path folder = Files.createTempDirectory(temp, "fetched");
    artifacts.fetch(id, null, folder, Progress.NONE);
    return folder;
  }

  @Test
  void anArtifactIsFetchedAsItWasStored() throws IOException {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    RemoteArtifacts artifacts = artifacts(KEYS);

    StoredArtifact stored = artifacts.store(FIRST, folder, Progress.NONE);

    SampleFolders.assertEqual(fetched(artifacts, FIRST), folder);
    assertThat(stored.logicalBytes())
        .isEqualTo(
            11L * SampleFolders.CHUNK
                + 4096
                + 1000
                + 77
                + Files.size(folder.resolve("manifest.json")));
    assertThat(artifacts.inspect(FIRST)).isEqualTo(stored);
    assertThat(artifacts.list("ns-1")).containsExactly(stored);
    assertThat(store.resolve("ns/ns-1/packs").toFile().list()).as("packs of 22 MiB").hasSize(1);
  }

  @Test
  void holesStayHoles() throws IOException {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    RemoteArtifacts artifacts = artifacts(KEYS);
    artifacts.store(FIRST, folder, Progress.NONE);

    Path sparse = fetched(artifacts, FIRST).resolve("regions/1.data");

    Process du = new ProcessBuilder("du", "--block-size=1", sparse.toString()).start();
    String used =
        new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\t", 2)[0];
    assertThat(Long.parseLong(used)).isLessThan(400_000);
  }

  @Test
  void equalChunksAreStoredOnceInANamespace() throws IOException {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    RemoteArtifacts artifacts = artifacts(KEYS);
    StoredArtifact first = artifacts.store(FIRST, folder, Progress.NONE);

    StoredArtifact second = artifacts.store(SECOND, folder, Progress.NONE);
    StoredArtifact foreign =
        artifacts.store(new ArtifactId("ns-2", "artifact-1"), folder, Progress.NONE);

    assertThat(first.newBytes()).isEqualTo(first.storedBytes());
    assertThat(second.newBytes()).isZero();
    assertThat(second.storedBytes()).isEqualTo(first.storedBytes());
    assertThat(foreign.newBytes()).isEqualTo(first.storedBytes());
    artifacts.delete(FIRST);
    SampleFolders.assertEqual(fetched(artifacts, SECOND), folder);
  }

  /** Writers wait for parts to be uploaded, at the end of a pack and in the middle of a chunk. */
  @Test
  void chunksOfSeveralThreadsAndPacksComeBackAsTheyWere() throws IOException {
    Path folder = Files.createDirectories(temp.resolve("large"));
    Random random = new Random(1);
    byte[] chunk = new byte[SampleFolders.CHUNK];
    try (OutputStream out = Files.newOutputStream(folder.resolve("pages"))) {
      for (int i = 0; i < 160; i++) {
        random.nextBytes(chunk);
        out.write(chunk);
      }
    }
    RemoteArtifacts artifacts = artifacts(KEYS);

    artifacts.store(FIRST, folder, Progress.NONE);

    Path back = fetched(artifacts, FIRST);
    assertThat(Files.mismatch(folder.resolve("pages"), back.resolve("pages"))).isEqualTo(-1);
  }

  @Test
  void onlyWhatChangedIsWritten() throws IOException {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    RemoteArtifacts artifacts = artifacts(KEYS);
    artifacts.store(FIRST, folder, Progress.NONE);
    Files.writeString(folder.resolve("criu/nested/core.img"), "another core");

    StoredArtifact second = artifacts.store(SECOND, folder, Progress.NONE);

    assertThat(second.newBytes()).isEqualTo(Sealer.sealedBytes("another core".length()));
    SampleFolders.assertEqual(fetched(artifacts, SECOND), folder);
  }

  @Test
  void theStoreDoesNotContainTheContentInClear() throws IOException {
    Path folder = Files.createDirectory(temp.resolve("artifact"));
    Files.writeString(folder.resolve("secret-name"), "secret content");
    artifacts(KEYS).store(FIRST, folder, Progress.NONE);

    for (Path path : SampleFolders.everything(store)) {
      if (Files.isRegularFile(path)) {
        assertThat(Files.readString(path, StandardCharsets.ISO_8859_1)).doesNotContain("secret");
      }
    }
  }

  @Test
  void aMissingOrWrongKeyIsReportedByItsName() throws IOException {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    artifacts(KEYS).store(FIRST, folder, Progress.NONE);

    assertThatThrownBy(() -> fetched(artifacts(StoreKeys.none()), FIRST))
        .isInstanceOf(StoreException.MissingKey.class)
        .hasMessageContaining("expected one of the keys [a], got []");
    assertThatThrownBy(
            () -> fetched(artifacts(StoreKeys.of("a", Map.of("a", SampleFolders.key(2)))), FIRST))
        .isInstanceOf(StoreException.WrongKey.class)
        .hasMessageContaining("key a");
  }

  @Test
  void aStoreInClearIsRefusedWhereEncryptionIsRequired() throws IOException {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    artifacts(StoreKeys.none()).store(FIRST, folder, Progress.NONE);

    SampleFolders.assertEqual(fetched(artifacts(StoreKeys.none()), FIRST), folder);
    assertThatThrownBy(() -> artifacts(KEYS).store(SECOND, folder, Progress.NONE))
        .isInstanceOf(StoreException.NotEncrypted.class);
  }

  @Test
  void theOldKeyIsNotNeededAfterARewrap() throws IOException {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    artifacts(KEYS).store(FIRST, folder, Progress.NONE);
    StoreKeys both =
        StoreKeys.of("b", Map.of("a", SampleFolders.key(1), "b", SampleFolders.key(2)));
    SampleFolders.assertEqual(fetched(artifacts(both), FIRST), folder);

    assertThat(artifacts(both).rewrap("ns-1")).isTrue();
    assertThat(artifacts(both).rewrap("ns-1")).isFalse();

    StoreKeys next = StoreKeys.of("b", Map.of("b", SampleFolders.key(2)));
    SampleFolders.assertEqual(fetched(artifacts(next), FIRST), folder);
    assertThatThrownBy(() -> fetched(artifacts(KEYS), FIRST))
        .isInstanceOf(StoreException.MissingKey.class);
  }

  @Test
  void aManifestWithAnUnexpectedDigestIsRefused() throws IOException {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    RemoteArtifacts artifacts = artifacts(KEYS);
    StoredArtifact stored = artifacts.store(FIRST, folder, Progress.NONE);
    Path empty = Files.createDirectory(temp.resolve("empty"));

    assertThatThrownBy(() -> artifacts.fetch(FIRST, "0".repeat(64), empty, Progress.NONE))
        .isInstanceOf(StoreException.Foreign.class)
        .hasMessageContaining(stored.sha256());
    assertThat(artifacts.fetch(FIRST, stored.sha256(), empty, Progress.NONE)).isEqualTo(stored);
  }

  @Test
  void aFetchWithoutRoomWritesNothing() throws IOException {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    RemoteArtifacts artifacts = artifacts(KEYS);
    artifacts.store(FIRST, folder, Progress.NONE);
    Path empty = Files.createDirectory(temp.resolve("empty"));
    // Seven of its eleven whole chunks are zeros.
    long room =
        4L * SampleFolders.CHUNK + 4096 + 1000 + 77 + Files.size(folder.resolve("manifest.json"));

    assertThatThrownBy(() -> artifacts.fetch(FIRST, null, empty, room - 1, Progress.NONE))
        .isInstanceOf(StoreException.Full.class)
        .hasMessageContaining("expected room for " + room);
    assertThat(empty).isEmptyDirectory();

    artifacts.fetch(FIRST, null, empty, room, Progress.NONE);
    SampleFolders.assertEqual(empty, folder);
  }

  @Test
  void aLinkInAnArtifactIsRefused() throws IOException {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    Files.createSymbolicLink(folder.resolve("link"), Path.of("/etc/passwd"));

    assertThatThrownBy(() -> artifacts(KEYS).store(FIRST, folder, Progress.NONE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("link: expected a file or a folder");
  }

  @Test
  void anArtifactThatIsNotStoredIsNotFound() throws IOException {
    artifacts(KEYS)
        .store(FIRST, SampleFolders.artifact(temp.resolve("artifact"), 1), Progress.NONE);

    assertThatThrownBy(() -> fetched(artifacts(KEYS), SECOND))
        .isInstanceOf(StoreException.NotFound.class)
        .hasMessageContaining("ns-1/artifact-2");
  }
}
