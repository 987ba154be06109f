package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.artifact.Progress;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChunkReaderTest {
  private static final ArtifactId ID = new ArtifactId("ns-1", "artifact-1");
  private static final StoreKeys KEYS = StoreKeys.of("a", Map.of("a", SampleFolders.key(1)));

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
