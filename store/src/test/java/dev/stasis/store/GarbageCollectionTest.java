package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GarbageCollectionTest {
  private static final ArtifactId FIRST = StoreConformance.FIRST;
  private static final ArtifactId SECOND = StoreConformance.SECOND;
  private static final Duration DAY = Duration.ofHours(25);
  private static final Duration GRACE = Duration.ofHours(2);

  @TempDir Path temp;

  @SuppressWarnings("NullAway.Init") // made before each test
  private FaultyBlobs blobs;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Path large;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Path small;

  @BeforeEach
  void createStore() throws IOException {
    emptyStore();
    large = folder("large", 1, 3_000_000);
    small = folder("small", 1, 0);
  }

  private void emptyStore() throws IOException {
    blobs = new FaultyBlobs(new FolderBlobs(Files.createTempDirectory(temp, "store")));
  }

  /** Each folder has a small file that is the same in all; {@code own} bytes are its own. */
  private Path folder(String name, long seed, int own) throws IOException {
    Path folder = Files.createDirectory(temp.resolve(name));
    Files.write(folder.resolve("shared"), SampleFolders.random(new Random(0), 100_000));
    Files.write(folder.resolve("own"), SampleFolders.random(new Random(seed), own));
    SampleFolders.keepToRoot(folder);
    return folder;
  }

  private RemoteArtifacts artifacts() {
    return artifacts(Clock.systemUTC());
  }

  private RemoteArtifacts artifacts(Clock clock) {
    return new RemoteArtifacts(
        blobs, StoreConformance.KEYS, Compression.ZSTD, clock, 2, Duration.ZERO);
  }

  private CollectReport collect() throws IOException {
    return artifacts().collect("ns-1");
  }

  private void assertWhole(ArtifactId id, Path folder) throws IOException {
    Path to = Files.createTempDirectory(temp, "fetched");
    artifacts().fetch(id, null, to, Progress.NONE);
    SampleFolders.assertEqual(to, folder);
  }

  /** Both share a pack; only a small part of it is used any more, and it is condemned. */
  private void condemnMostlyUnusedPack() throws IOException {
    artifacts().store(FIRST, large, Progress.NONE);
    artifacts().store(SECOND, small, Progress.NONE);
    artifacts().delete(FIRST);
    blobs.advance(DAY);
    assertThat(collect().condemned()).isEqualTo(1);
    blobs.advance(GRACE);
  }

  @Test
  void chunksInUseAreMovedOutOfAPackThatIsDeleted() throws IOException {
    condemnMostlyUnusedPack();

    CollectReport report = collect();

    assertThat(report.deleted()).isEqualTo(1);
    assertThat(report.movedBytes()).isEqualTo(Sealer.sealedBytes(100_000));
    assertThat(report.freedBytes()).isGreaterThan(3_000_000);
    assertThat(report.problems()).isEmpty();
    assertWhole(SECOND, small);
    assertThat(artifacts().verify(SECOND, Progress.NONE).whole()).isTrue();
  }

  @Test
  void chunksOfEveryDataKeyAreMovedWithoutLoss() throws IOException {
    ArtifactId largeOfSecondKey = new ArtifactId("ns-1", "artifact-3");
    ArtifactId smallOfSecondKey = new ArtifactId("ns-1", "artifact-4");
    artifacts().store(FIRST, large, Progress.NONE);
    artifacts().store(SECOND, small, Progress.NONE);
    useAnotherDataKey();
    artifacts().store(largeOfSecondKey, large, Progress.NONE);
    artifacts().store(smallOfSecondKey, small, Progress.NONE);
    artifacts().delete(FIRST);
    artifacts().delete(largeOfSecondKey);
    blobs.advance(DAY);
    assertThat(collect().condemned()).isEqualTo(2);
    blobs.advance(GRACE);

    CollectReport report = collect();

    assertThat(report.deleted()).isEqualTo(2);
    assertThat(report.movedBytes()).isEqualTo(2 * Sealer.sealedBytes(100_000));
    assertWhole(SECOND, small);
    assertWhole(smallOfSecondKey, small);
  }

  /** Adds the key of an agent that made one at the same time as another agent. */
  private void useAnotherDataKey() throws IOException {
    SecureRandom random = new SecureRandom();
    String first = new NamespaceKeys(blobs, StoreConformance.KEYS, random).orNew("ns-1").id();
    NamespaceKey other;
    do {
      byte[] root = new byte[StoreKeys.KEY_BYTES];
      random.nextBytes(root);
      other = NamespaceKey.of(root);
      // The first by name is used from then on.
    } while (other.id().compareTo(first) > 0);
    blobs.put(
        ChunkFormat.keyFile("ns-1", other.id()),
        StoreConformance.KEYS.files(random).write("ns-1", other));
  }

  @Test
  void aCollectionKilledAtAnyStepLosesNothing() throws IOException {
    for (boolean afterTheEffect : List.of(false, true)) {
      boolean killed = true;
      int step = 0;
      while (killed) {
        emptyStore();
        condemnMostlyUnusedPack();
        int kill = step++;
        blobs.fault(
            (call, key, done) -> {
              if (call > kill || (call == kill && done == afterTheEffect)) {
                throw new StoreException.Refused("killed", null);
              }
            });
        try {
          collect();
          killed = false;
        } catch (StoreException.Refused e) {
          killed = true;
        }
        blobs.fault((call, key, done) -> {});
        assertWhole(SECOND, small);
        blobs.advance(DAY);
        collect();
        blobs.advance(DAY);
        collect();
        assertWhole(SECOND, small);
        assertThat(artifacts().usage("ns-1").storedBytes()).isLessThan(1_000_000);
      }
      assertThat(step).isGreaterThan(10);
    }
  }

  @Test
  void aPackThatAWriterFoundBeforeItWasCondemnedStaysForIt() throws IOException {
    artifacts().store(FIRST, large, Progress.NONE);
    artifacts().delete(FIRST);
    blobs.advance(DAY);
    Files.writeString(large.resolve("new"), "new");
    SampleFolders.keepToRoot(large);
    AtomicBoolean once = new AtomicBoolean();
    blobs.fault(
        (call, key, done) -> {
          // The writer has found the old pack and begins one of its own.
          if (key.endsWith(".pack")
              && key.contains("/packs/")
              && isNew(key)
              && !once.getAndSet(true)) {
            try {
              assertThat(collect().condemned()).isEqualTo(1);
              blobs.advance(GRACE);
              assertThat(collect().waiting()).isEqualTo(1);
            } catch (IOException e) {
              throw new IllegalStateException(e);
            }
          }
        });

    StoredArtifact stored = artifacts().store(SECOND, large, Progress.NONE);

    assertThat(once).isTrue();
    assertThat(stored.newBytes()).isLessThan(100);
    assertWhole(SECOND, large);
    blobs.advance(GRACE);
    CollectReport report = collect();
    assertThat(report.deleted()).isEqualTo(1);
    assertThat(report.movedBytes()).isGreaterThan(3_000_000);
    assertWhole(SECOND, large);
  }

  private boolean isNew(String key) throws StoreException {
    return blobs.list("ns/ns-1/packs/").stream().noneMatch(blob -> blob.key().equals(key));
  }

  @Test
  void aWriterThatBeginsLaterDoesNotReferToACondemnedPack() throws IOException {
    condemnMostlyUnusedPack();

    StoredArtifact stored = artifacts().store(FIRST, large, Progress.NONE);

    assertThat(stored.newBytes()).isEqualTo(stored.storedBytes());
    assertThat(collect().movedBytes()).as("a whole copy is elsewhere").isZero();
    assertWhole(FIRST, large);
    assertWhole(SECOND, small);
  }

  @Test
  void twoCollectionsAtOnceLoseNothing() throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(2);
    try {
      for (int i = 0; i < 10; i++) {
        emptyStore();
        condemnMostlyUnusedPack();
        Future<CollectReport> one = executor.submit(this::collect);
        Future<CollectReport> two = executor.submit(this::collect);
        one.get();
        two.get();
        assertWhole(SECOND, small);
      }
    } finally {
      executor.shutdownNow();
    }
  }

  @Test
  void clocksOfAgentsDoNotMatter() throws IOException {
    Clock past = Clock.fixed(Instant.parse("1999-01-01T00:00:00Z"), ZoneOffset.UTC);
    Clock future = Clock.fixed(Instant.parse("2099-01-01T00:00:00Z"), ZoneOffset.UTC);
    artifacts(past).store(FIRST, large, Progress.NONE);
    artifacts(future).delete(FIRST);

    assertThat(artifacts(future).collect("ns-1").condemned()).isZero();
    blobs.advance(DAY.negated());
    assertThat(collect().condemned()).as("a store whose clock was put back").isZero();
    blobs.advance(DAY.plus(DAY));
    assertThat(artifacts(past).collect("ns-1").condemned()).isEqualTo(1);
  }

  @Test
  void theLeaseOfAKilledWriterExpires() throws IOException {
    blobs.put("ns/ns-1/writers/killed.alive", new byte[0]);
    blobs.put("ns/ns-1/writers/killed.began", new byte[0]);
    condemnMostlyUnusedPack();
    assertThat(blobs.list("ns/ns-1/writers/")).as("after 25 hours").isEmpty();
    blobs.put("ns/ns-1/writers/other.alive", new byte[0]);

    collect();

    assertThat(blobs.list("ns/ns-1/writers/")).as("a writer at work").hasSize(1);
  }

  @Test
  void unusedChunksAreFreedWithoutTheRightToListUnfinishedUploads() throws IOException {
    blobs.fault(
        (call, key, done) -> {
          if (key.isEmpty()) {
            throw new StoreException.AccessDenied("ListBucketMultipartUploads", null);
          }
        });

    condemnMostlyUnusedPack();

    assertThat(collect().deleted()).isEqualTo(1);
  }

  @Test
  void nothingIsFreedWhileAManifestCannotBeRead() throws IOException {
    condemnMostlyUnusedPack();
    String manifest = ChunkFormat.manifest(SECOND);
    byte[] bytes = BlobReader.whole(blobs, manifest, 1 << 20);
    byte[] damaged = bytes.clone();
    damaged[bytes.length - 1] ^= 1;
    blobs.put(manifest, damaged);

    CollectReport report = collect();

    assertThat(report.deleted()).isZero();
    assertThat(report.problems()).singleElement().asString().contains("artifact-2.manifest");
    blobs.put(manifest, bytes);
    assertThat(collect().deleted()).isEqualTo(1);
    assertWhole(SECOND, small);
  }

  @Test
  void theNextUploadRepairsDamageFoundByAVerification() throws IOException {
    artifacts().store(FIRST, large, Progress.NONE);
    String pack = blobs.list("ns/ns-1/packs/").get(0).key();
    byte[] bytes = BlobReader.whole(blobs, pack, 1 << 24);
    bytes[1_000_000] ^= 1;
    blobs.put(pack, bytes);

    VerifyReport report = artifacts().verify(FIRST, Progress.NONE);

    assertThat(report.whole()).isFalse();
    assertThat(report.damages())
        .singleElement()
        .satisfies(damage -> assertThat(damage.where()).matches("chunk [01] of (own|shared)"));
    assertThatThrownBy(() -> assertWhole(FIRST, large))
        .isInstanceOf(StoreException.Damaged.class)
        .hasMessageContaining("artifact ns-1/artifact-1, chunk ");
    artifacts().store(SECOND, large, Progress.NONE);
    assertWhole(FIRST, large);
    assertThat(artifacts().verify(FIRST, Progress.NONE).whole()).isTrue();
  }
}
