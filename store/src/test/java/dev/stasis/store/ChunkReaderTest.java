package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.artifact.Progress;
import dev.stasis.store.ChunkFormat.Place;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChunkReaderTest {
  private static final ArtifactId ID = new ArtifactId("ns-1", "artifact-1");
  private static final StoreKeys KEYS = StoreKeys.of("a", Map.of("a", SampleFolders.key(1)));
  private static final Clock CLOCK = Clock.systemUTC();

  private final Set<Object> arrays = Collections.newSetFromMap(new IdentityHashMap<>());

  /** A thread with an array for each chunk would fill the heap between two collections. */
  @Test
  void aThreadReadsAllChunksIntoOneArray(@TempDir Path temp) throws Exception {
    Path folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
    Path store = Files.createDirectory(temp.resolve("store"));
    RemoteArtifacts artifacts =
        new RemoteArtifacts(
            recorded(new FolderBlobs(store)), KEYS, Compression.ZSTD, Clock.systemUTC(), 1);
    artifacts.store(ID, folder, Progress.NONE);

    artifacts.verify(ID, Progress.NONE);
    assertThat(arrays).as("arrays of a verification").hasSize(1);

    arrays.clear();
    artifacts.fetch(ID, null, Files.createDirectory(temp.resolve("fetched")), Progress.NONE);
    assertThat(arrays).as("arrays of a download").hasSize(1);
  }

  /** The places of all chunks of a large namespace would fill the heap. */
  @Test
  void copiesOfOtherArtifactsChunksAreNotKept(@TempDir Path temp) throws Exception {
    FaultyBlobs blobs = new FaultyBlobs(new FolderBlobs(Files.createDirectory(temp.resolve("s"))));
    RemoteArtifacts artifacts = new RemoteArtifacts(blobs, KEYS, Compression.ZSTD, CLOCK, 2);
    ArtifactId deleted = new ArtifactId("ns-1", "artifact-2");
    artifacts.store(deleted, folder(temp.resolve("deleted"), 1, 3_000_000), Progress.NONE);
    artifacts.store(ID, folder(temp.resolve("three"), 3, 0), Progress.NONE);
    artifacts.store(
        new ArtifactId("ns-1", "artifact-3"), folder(temp.resolve("many"), 300, 0), Progress.NONE);
    artifacts.delete(deleted);
    blobs.advance(Duration.ofHours(25));
    assertThat(artifacts.collect("ns-1").condemned()).isEqualTo(1);
    blobs.advance(Duration.ofHours(2));
    assertThat(artifacts.collect("ns-1").movedBytes()).isEqualTo(Sealer.sealedBytes(1000));

    NamespaceKey key = new NamespaceKeys(blobs, KEYS, new SecureRandom()).orNew("ns-1");
    RemoteManifest manifest =
        RemoteManifest.open(
            BlobReader.whole(blobs, ChunkFormat.manifest(ID), RemoteManifest.MOST_BYTES), ID, key);
    assertThat(manifest.chunks()).hasSize(3);
    ChunkReader reader =
        new ChunkReader(
            blobs, new NamespacePacks(blobs, "ns-1", key, 2, new BufferPool()), manifest.chunks());
    ChunkReader.Buffers buffers = reader.buffers();
    Set<ChunkName> names = new HashSet<>();
    for (ChunkRecord chunk : manifest.chunks()) {
      ChunkName name = Objects.requireNonNull(chunk.name());
      Place place = Objects.requireNonNull(chunk.place());
      var unused = reader.read(name, place, chunk.plain(), buffers);
      names.add(name);
    }

    assertThat(reader.copies().all().keySet()).isEqualTo(names);
  }

  /** Files of 1000 bytes, the same ones in all folders, and one of {@code own} bytes. */
  private static Path folder(Path folder, int files, int own) throws IOException {
    Files.createDirectory(folder);
    for (int i = 0; i < files; i++) {
      Files.write(folder.resolve("shared-" + i), SampleFolders.random(new Random(i), 1000));
    }
    Files.write(folder.resolve("own"), SampleFolders.random(new Random(-1), own));
    SampleFolders.keepToRoot(folder);
    return folder;
  }

  /** Records the arrays that chunks are read into. */
  private BlobStore recorded(BlobStore blobs) {
    return (BlobStore)
        Proxy.newProxyInstance(
            ChunkReaderTest.class.getClassLoader(),
            new Class<?>[] {BlobStore.class},
            (proxy, method, args) -> {
              if (method.getName().equals("read") && ((byte[]) args[2]).length > 1 << 20) {
                arrays.add(args[2]);
              }
              try {
                return method.invoke(blobs, args);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
