package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.artifact.Progress;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BufferPoolTest {
  private static final ArtifactId ID = new ArtifactId("ns-1", "artifact-1");
  private static final StoreKeys KEYS = StoreKeys.of("a", Map.of("a", SampleFolders.key(1)));
  private static final byte UNUSED = 7;

  private final BufferPool pool = new BufferPool();

  @Test
  void theSmallestFreeArrayThatIsLargeEnoughIsUsedAgain() {
    byte[] small = new byte[100];
    byte[] large = new byte[500];
    byte[] medium = new byte[200];
    pool.give(small);
    pool.give(large);
    pool.give(medium);

    assertThat(pool.take(150)).isSameAs(medium);
    assertThat(pool.take(150)).isSameAs(large);
    assertThat(pool.take(150)).hasSize(150);
    assertThat(pool.take(100)).isSameAs(small);
  }

  @Test
  void aCollectionFreesFreeArrays() {
    WeakReference<byte[]> given = new WeakReference<>(given());

    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> {
              System.gc();
              return given.get() == null;
            });
  }

  private byte[] given() {
    byte[] array = new byte[100];
    pool.give(array);
    return array;
  }

  /** The heap of an agent would grow by the arrays of each of them. */
  @Test
  void anUploadItsVerificationAndADownloadUseTheSameArray(@TempDir Path temp) throws Exception {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    Path store = Files.createDirectory(temp.resolve("store"));
    byte[] array = new byte[ChunkFormat.BUFFER_BYTES];
    pool.give(array);

    try (RemoteArtifacts remote = remote(store)) {
      Arrays.fill(array, UNUSED);
      remote.store(ID, folder, Progress.NONE);
      assertThat(isUnused(array)).as("unused by the upload").isFalse();

      Arrays.fill(array, UNUSED);
      remote.verify(ID, Progress.NONE);
      assertThat(isUnused(array)).as("unused by the verification").isFalse();
    }
    try (RemoteArtifacts remote = remote(store)) {
      Arrays.fill(array, UNUSED);
      remote.fetch(ID, null, Files.createDirectory(temp.resolve("fetched")), Progress.NONE);
      assertThat(isUnused(array)).as("unused by the download").isFalse();
    }
    SampleFolders.assertEqual(temp.resolve("fetched"), folder);
  }

  private RemoteArtifacts remote(Path store) {
    return new RemoteArtifacts(
        new FolderBlobs(store), KEYS, Compression.NONE, Clock.systemUTC(), 1, Duration.ZERO, pool);
  }

  private static boolean isUnused(byte[] array) {
    byte[] unused = new byte[array.length];
    Arrays.fill(unused, UNUSED);
    return Arrays.equals(array, unused);
  }
}
