package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What every back end promises. */
public abstract class StoreConformance {
  protected static final StoreKeys KEYS = StoreKeys.of("a", Map.of("a", SampleFolders.key(1)));
  protected static final ArtifactId FIRST = new ArtifactId("ns-1", "artifact-1");
  protected static final ArtifactId SECOND = new ArtifactId("ns-1", "artifact-2");

  @TempDir protected Path temp;

  @SuppressWarnings("NullAway.Init") // made before each test
  private FaultyBlobs blobs;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Path folder;

  /** An empty store. */
  protected abstract BlobStore emptyStore() throws Exception;

  /** The keys of the store. */
  protected StoreKeys keys() {
    return KEYS;
  }

  @BeforeEach
  void createStore() throws Exception {
    blobs = new FaultyBlobs(emptyStore());
    folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
  }

  private RemoteArtifacts artifacts(Duration patience) {
    return new RemoteArtifacts(blobs, keys(), Compression.ZSTD, Clock.systemUTC(), 4, patience);
  }

  private RemoteArtifacts artifacts() {
    return artifacts(Duration.ZERO);
  }

  private Path fetched(ArtifactId id) throws IOException {
    Path to = Files.createTempDirectory(temp, "fetched");
    artifacts().fetch(id, null, to, Progress.NONE);
    return to;
  }

  @Test
  void anArtifactIsFetchedAsItWasStored() throws IOException {
    artifacts().probe();
    StoredArtifact stored = artifacts().store(FIRST, folder, Progress.NONE);

    SampleFolders.assertEqual(fetched(FIRST), folder);
    assertThat(artifacts().inspect(FIRST)).isEqualTo(stored);
    assertThat(artifacts().list("ns-1")).containsExactly(stored);
    assertThat(artifacts().namespaces()).containsExactly("ns-1");
    assertThat(artifacts().store(SECOND, folder, Progress.NONE).newBytes()).isZero();
    artifacts().delete(FIRST);
    assertThatThrownBy(() -> fetched(FIRST)).isInstanceOf(StoreException.NotFound.class);
    SampleFolders.assertEqual(fetched(SECOND), folder);
  }

  @Test
  void aBlobOfSeveralPartsIsWholeOrNotThere() throws IOException {
    byte[] first = SampleFolders.random(new Random(1), blobs.uploadLimits().partBytes());
    byte[] second = SampleFolders.random(new Random(2), 1234);
    BlobUpload upload = blobs.upload("a/parts");
    upload.part(1, ByteBuffer.wrap(second));
    upload.part(0, ByteBuffer.wrap(first));
    assertThatThrownBy(() -> blobs.stat("a/parts")).isInstanceOf(StoreException.NotFound.class);

    upload.commit(2, first.length + second.length);

    assertThat(blobs.stat("a/parts").size()).isEqualTo(first.length + second.length);
    assertThat(blobs.get("a/parts", first.length, second.length)).isEqualTo(second);
    assertThatThrownBy(() -> blobs.get("a/parts", first.length + 1L, second.length))
        .isInstanceOf(StoreException.Damaged.class);
    BlobUpload dropped = blobs.upload("a/dropped");
    dropped.part(0, ByteBuffer.wrap(first));
    dropped.abort();
    assertThat(blobs.list("a/")).extracting(Blob::key).containsExactly("a/parts");
  }

  @Test
  void aWriterKilledAtAnyStepLeavesTheArtifactWholeOrNotThere() throws IOException {
    folder = SampleFolders.small(temp.resolve("small"));
    for (boolean afterTheEffect : List.of(false, true)) {
      int step = 0;
      boolean killed = true;
      while (killed) {
        ArtifactId id = new ArtifactId("ns-%s-%d".formatted(afterTheEffect, step), "artifact");
        int kill = step++;
        blobs.fault(
            (call, key, done) -> {
              if (call > kill || (call == kill && done == afterTheEffect)) {
                throw new StoreException.Refused("killed", null);
              }
            });
        killed = isKilled(id);
        blobs.fault((call, key, done) -> {});
        if (killed && isThere(id)) {
          SampleFolders.assertEqual(fetched(id), folder);
        }
        artifacts().store(id, folder, Progress.NONE);
        SampleFolders.assertEqual(fetched(id), folder);
      }
      assertThat(step).isBetween(10, 60);
    }
  }

  private boolean isKilled(ArtifactId id) throws IOException {
    try {
      artifacts().store(id, folder, Progress.NONE);
      return false;
    } catch (StoreException.Refused e) {
      return true;
    }
  }

  private boolean isThere(ArtifactId id) throws IOException {
    try {
      artifacts().inspect(id);
      return true;
    } catch (StoreException.NotFound e) {
      return false;
    }
  }

  @Test
  void aServerThatRecoversIsAwaited() throws IOException {
    blobs.fault(
        (call, key, done) -> {
          // Three calls in a row, again and again, half of them after their effect.
          if (call % 9 >= 6 && done == (call % 2 == 0)) {
            throw new StoreException.Unreachable("gone", null);
          }
        });

    artifacts(Duration.ofMinutes(1)).store(FIRST, folder, Progress.NONE);
    Path to = Files.createDirectory(temp.resolve("to"));
    artifacts(Duration.ofMinutes(1)).fetch(FIRST, null, to, Progress.NONE);

    SampleFolders.assertEqual(to, folder);
  }

  @Test
  void aServerThatDoesNotRecoverIsReported() throws IOException {
    blobs.fault(
        (call, key, done) -> {
          if (call >= 8) {
            throw new StoreException.Unreachable("gone", null);
          }
        });

    assertThatThrownBy(() -> artifacts(Duration.ofMillis(500)).store(FIRST, folder, Progress.NONE))
        .isInstanceOf(StoreException.Unreachable.class);
    blobs.fault((call, key, done) -> {});
    assertThat(artifacts().list("ns-1")).isEmpty();
  }

  @Test
  void aSlowServerIsOnlySlow() throws IOException {
    CountDownLatch never = new CountDownLatch(1);
    blobs.fault(
        (call, key, done) -> {
          try {
            assertThat(never.await(20, TimeUnit.MILLISECONDS)).isFalse();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });

    artifacts().store(FIRST, folder, Progress.NONE);

    SampleFolders.assertEqual(fetched(FIRST), folder);
  }

  @Test
  void aFullStoreIsReportedAndKeepsNoPart() throws IOException {
    blobs.fault(
        (call, key, done) -> {
          if (key.endsWith(".pack") && !done) {
            throw new StoreException.Full("no space left", null);
          }
        });

    assertThatThrownBy(() -> artifacts(Duration.ofMinutes(1)).store(FIRST, folder, Progress.NONE))
        .isInstanceOf(StoreException.Full.class);
    blobs.fault((call, key, done) -> {});
    assertThat(artifacts().list("ns-1")).isEmpty();
    artifacts().store(FIRST, folder, Progress.NONE);
    SampleFolders.assertEqual(fetched(FIRST), folder);
  }

  @Test
  void oneFlippedBitAnywhereIsRefused() throws IOException {
    folder = SampleFolders.small(temp.resolve("small"));
    artifacts().store(FIRST, folder, Progress.NONE);
    int flips = 0;
    for (Blob blob : blobs.list("")) {
      byte[] bytes = blobs.get(blob.key(), 0, (int) blob.size());
      int stride = Math.max(1, bytes.length / 40);
      for (int at = 0; at < bytes.length; at += stride) {
        flips++;
        refuses(blob.key(), bytes, at, 1 << (flips % 8));
      }
      if (bytes.length > 0) {
        refuses(blob.key(), bytes, bytes.length - 1, 1);
      }
    }
    assertThat(flips).isGreaterThan(100);
    SampleFolders.assertEqual(fetched(FIRST), folder);
  }

  private void refuses(String key, byte[] bytes, int at, int bit) throws IOException {
    byte[] flipped = bytes.clone();
    flipped[at] ^= (byte) bit;
    blobs.put(key, flipped);
    String where = "%s, byte %d of %d, bit %d".formatted(key, at, bytes.length, bit);
    boolean refused = false;
    Path to = Files.createTempDirectory(temp, "flipped");
    try {
      artifacts().fetch(FIRST, null, to, Progress.NONE);
    } catch (StoreException e) {
      refused = true;
    }
    try {
      if (artifacts().verify(FIRST, Progress.NONE).whole()) {
        fail("not noticed by verify: " + where);
      }
    } catch (StoreException e) {
      assertThat(e).isNotInstanceOf(StoreException.Unreachable.class);
    }
    // An index is needed only to find chunks again: what is fetched without it is whole.
    if (!refused && !SampleFolders.equal(to, folder)) {
      fail("fetched with damage: " + where);
    }
    blobs.put(key, bytes);
    for (Blob mark : blobs.list("ns/ns-1/condemned/")) {
      blobs.delete(mark.key());
    }
  }

  @Test
  void twoWritersOfTheSameChunksBothSucceed() throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(2);
    try {
      Future<StoredArtifact> one =
          executor.submit(() -> artifacts().store(FIRST, folder, Progress.NONE));
      Future<StoredArtifact> two =
          executor.submit(() -> artifacts().store(SECOND, folder, Progress.NONE));
      one.get();
      two.get();
    } finally {
      executor.shutdownNow();
    }

    SampleFolders.assertEqual(fetched(FIRST), folder);
    SampleFolders.assertEqual(fetched(SECOND), folder);
  }

  @Test
  void unusedPacksAreFreedInTwoRuns() throws IOException {
    artifacts().store(FIRST, folder, Progress.NONE);
    artifacts().delete(FIRST);
    blobs.advance(Duration.ofHours(23));
    assertThat(artifacts().collect("ns-1").condemned()).as("younger than a day").isZero();
    blobs.advance(Duration.ofHours(2));
    CollectReport first = artifacts().collect("ns-1");
    assertThat(first.condemned()).isPositive();
    assertThat(artifacts().collect("ns-1").waiting()).isEqualTo(first.condemned());

    blobs.advance(Duration.ofHours(2));
    CollectReport second = artifacts().collect("ns-1");

    assertThat(second.deleted()).isEqualTo(first.condemned());
    assertThat(second.freedBytes()).isPositive();
    assertThat(blobs.list("ns/ns-1/packs/")).isEmpty();
    assertThat(blobs.list("ns/ns-1/condemned/")).isEmpty();
  }
}
