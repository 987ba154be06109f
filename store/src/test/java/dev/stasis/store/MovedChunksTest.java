package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Readers beside a collection that moves their chunks. */
class MovedChunksTest {
  private static final ArtifactId FIRST = StoreConformance.FIRST;
  private static final ArtifactId SECOND = StoreConformance.SECOND;
  private static final Duration DAY = Duration.ofHours(25);
  private static final Duration GRACE = Duration.ofHours(2);

  private final AtomicBoolean collectedMeanwhile = new AtomicBoolean();

  @TempDir Path temp;

  @SuppressWarnings("NullAway.Init") // made before each test
  private FaultyBlobs blobs;

  @BeforeEach
  void createStore() throws IOException {
    blobs = new FaultyBlobs(new FolderBlobs(Files.createDirectory(temp.resolve("store"))));
  }

  /** With one thread, chunks are read one after the other, in their order. */
  private RemoteArtifacts artifacts(int threads) {
    return new RemoteArtifacts(
        blobs, StoreConformance.KEYS, Compression.ZSTD, Clock.systemUTC(), threads, Duration.ZERO);
  }

  @Test
  void aVerificationFindsChunksThatACollectionMovesMeanwhile() throws IOException {
    beginWithAMovedChunkAndOneThatIsDueToMove();

    assertThat(artifacts(1).verify(SECOND, Progress.NONE).damages()).isEmpty();

    assertThat(collectedMeanwhile).isTrue();
  }

  @Test
  void aFetchFindsChunksThatACollectionMovesMeanwhile() throws IOException {
    beginWithAMovedChunkAndOneThatIsDueToMove();

    Path to = Files.createDirectory(temp.resolve("fetched"));
    artifacts(1).fetch(SECOND, null, to, Progress.NONE);

    assertThat(collectedMeanwhile).isTrue();
    SampleFolders.assertEqual(to, temp.resolve("both"));
  }

  /**
   * Its first chunk was moved by a collection. The second one is moved by another collection, once
   * a reader reads the index of the pack with the first.
   */
  private void beginWithAMovedChunkAndOneThatIsDueToMove() throws IOException {
    ArtifactId other = new ArtifactId("ns-1", "artifact-3");
    artifacts(2).store(FIRST, folderWith("one", "1", "garbage-1"), Progress.NONE);
    String first = packs().get(0);
    artifacts(2).store(other, folderWith("two", "2", "garbage-2"), Progress.NONE);
    String second = packs().stream().filter(pack -> !pack.equals(first)).findAny().orElseThrow();
    artifacts(2).store(SECOND, folderWith("both", "1", "2"), Progress.NONE);
    assertThat(packs()).hasSize(2);
    artifacts(2).delete(FIRST);
    artifacts(2).delete(other);
    blobs.advance(DAY);
    assertThat(artifacts(2).collect("ns-1").condemned()).isEqualTo(2);
    blobs.delete(second.replace("/packs/", "/condemned/"));
    blobs.advance(GRACE);
    CollectReport report = artifacts(2).collect("ns-1");
    assertThat(report.deleted()).isEqualTo(1);
    assertThat(report.condemned()).isEqualTo(1);
    blobs.advance(GRACE);
    String moved = packs().stream().filter(pack -> !pack.equals(second)).findAny().orElseThrow();
    blobs.fault(
        (call, key, done) -> {
          if (done && key.equals(moved) && !collectedMeanwhile.getAndSet(true)) {
            try {
              assertThat(artifacts(2).collect("ns-1").deleted()).isEqualTo(1);
            } catch (IOException e) {
              throw new IllegalStateException(e);
            }
          }
        });
  }

  /** Each chunk is a file with its name; garbage is large. */
  private Path folderWith(String name, String... chunks) throws IOException {
    Path folder = Files.createDirectory(temp.resolve(name));
    for (String chunk : chunks) {
      Files.write(
          folder.resolve(chunk),
          SampleFolders.random(
              new Random(chunk.hashCode()), chunk.startsWith("garbage") ? 2_000_000 : 100_000));
    }
    SampleFolders.keepToRoot(folder);
    return folder;
  }

  private List<String> packs() throws StoreException {
    return blobs.list("ns/ns-1/packs/").stream().map(Blob::key).toList();
  }
}
