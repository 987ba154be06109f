package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.store.ChunkCodec.Packed;
import dev.stasis.store.ChunkFormat.PackName;
import dev.stasis.store.ChunkFormat.Place;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PackWriterTest {
  private static final String NAMESPACE = "ns-1";
  private static final String WRITER = "0".repeat(32);
  private static final NamespaceKey KEY = NamespaceKey.of(new byte[32]);
  private static final byte[] CHUNK = SampleFolders.random(new Random(1), SampleFolders.CHUNK);

  @TempDir Path temp;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger names = new AtomicInteger();
  private final BufferPool pool = new BufferPool();

  @SuppressWarnings("NullAway.Init") // made before each test
  private FaultyBlobs blobs;

  @SuppressWarnings("NullAway.Init") // made before each test
  private PackWriter writer;

  @BeforeEach
  void createWriter() {
    blobs = new FaultyBlobs(new FolderBlobs(temp));
    writer = writer();
  }

  private PackWriter writer() {
    return new PackWriter(new NamespacePacks(blobs, NAMESPACE, KEY, 1, pool), WRITER);
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    writer.close();
  }

  private static String key(int pack) {
    return new PackName(WRITER, pack).key(NAMESPACE);
  }

  private Place append(int length) throws IOException {
    ChunkName name = new ChunkName(names.incrementAndGet(), 0, 0, 0);
    return writer.append(name, length, new Packed(ChunkCodec.RAW, CHUNK, length));
  }

  /** Until it has as many chunks as a pack can have. */
  private void fillFirstPack(int large) throws IOException {
    for (int i = 0; i < ChunkFormat.PACK_CHUNKS; i++) {
      assertThat(append(i < large ? CHUNK.length : 1).pack().number()).isZero();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      // 60 s: an event of another thread, within milliseconds.
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void chunksAreAppendedWhileAFullPackIsCompleted() throws IOException {
    CountDownLatch next = new CountDownLatch(1);
    Thread appending = Thread.currentThread();
    append(1);
    blobs.fault(
        (call, key, done) -> {
          if (!key.equals(key(0))) {
            next.countDown();
          } else if (Thread.currentThread() != appending) {
            await(next);
          }
        });

    for (int i = 1; i < ChunkFormat.PACK_CHUNKS; i++) {
      append(1);
    }
    assertThat(append(1).pack().number()).isEqualTo(1);
    writer.finish();

    assertThat(writer.written().keySet())
        .containsExactlyInAnyOrder(
            new PackName(WRITER, 0).fileName(), new PackName(WRITER, 1).fileName());
    for (Blob pack : blobs.list(ChunkFormat.packs(NAMESPACE))) {
      assertThat(PackIndex.read(blobs, pack, KEY)).isNotEmpty();
    }
  }

  @Test
  void twoThreadsWriteTwoPacksOfALargeArtifact() throws Exception {
    fillFirstPack(33);
    CountDownLatch third = new CountDownLatch(1);
    blobs.fault(
        (call, key, done) -> {
          if (key.equals(key(1)) && !done) {
            await(third);
          }
          if (key.equals(key(2))) {
            third.countDown();
          }
        });

    List<Future<Place>> both =
        List.of(threads.submit(() -> append(1)), threads.submit(() -> append(1)));

    assertThat(List.of(pack(both.get(0)), pack(both.get(1)))).containsExactlyInAnyOrder(1, 2);
    writer.finish();
    assertThat(writer.written()).hasSize(3);
  }

  @Test
  void theThreadThatSealsAChunkWritesItToAFolder() throws IOException {
    List<Thread> callers = new CopyOnWriteArrayList<>();
    blobs.fault((call, key, done) -> callers.add(Thread.currentThread()));

    append(CHUNK.length);

    // Before and after: one call begins the pack, and two write parts of 1 MiB.
    assertThat(callers).hasSize(6).containsOnly(Thread.currentThread());
  }

  private static int pack(Future<Place> place) throws Exception {
    return place.get(60, TimeUnit.SECONDS).pack().number();
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 16})
  void whatIsInMemoryIsBounded(int packs) throws Exception {
    UploadLimits limits = new UploadLimits(blobs.uploadLimits().partBytes(), 16, packs);
    blobs.limit(limits);
    writer = writer();
    CountDownLatch release = new CountDownLatch(1);
    append(1);
    blobs.fault((call, key, done) -> await(release));
    AtomicInteger appended = new AtomicInteger();
    Thread appending =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < 20; i++) {
                  append(CHUNK.length);
                  appended.incrementAndGet();
                }
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    appending.start();

    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING)
                    .contains(appending.getState()));
    assertThat((long) appended.get() * CHUNK.length)
        .isLessThanOrEqualTo((long) limits.parts() * limits.partBytes());
    release.countDown();
    appending.join(60_000);
    writer.finish();

    assertThat(appended).hasValue(20);
    assertThat(writer.written()).hasSize(1);
  }

  @Test
  void thePartsOfAnUploadAreFreeAfterwardsAndNotThoseInUse() throws Exception {
    byte[] part = new byte[blobs.uploadLimits().partBytes()];
    pool.give(part);
    append(CHUNK.length);
    assertThat(pool.take(part.length)).as("an array in use").isNotSameAs(part);

    writer.finish();
    writer.close();
    writer.close();

    assertThat(pool.take(part.length)).isSameAs(part);
    assertThat(pool.take(part.length)).as("an array in use").isNotSameAs(part);
  }

  @Test
  void aPackThatCannotBeCompletedIsReportedAndDropped() throws IOException {
    append(1);
    blobs.fault(
        (call, key, done) -> {
          // The first call writes the only part.
          if (call == 1) {
            throw new StoreException.Full("no space left", null);
          }
        });

    assertThatThrownBy(() -> writer.finish()).isInstanceOf(StoreException.Full.class);
    assertThatThrownBy(() -> append(1)).isInstanceOf(StoreException.Full.class);
    writer.close();

    assertThat(writer.written()).isEmpty();
    assertThat(blobs.list("")).isEmpty();
  }
}
