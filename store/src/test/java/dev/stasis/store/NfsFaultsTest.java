package dev.stasis.store;

import static dev.stasis.store.StoreConformance.FIRST;
import static dev.stasis.store.StoreConformance.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes wrong with a file server. */
@EnabledIfEnvironmentVariable(
    named = NfsLab.SERVER,
    matches = ".+",
    disabledReason = NfsLab.WHY_NOT)
class NfsFaultsTest {

  /** A soft mount gives up after three seconds. */
  private static final String SOFT = "vers=4.2,soft,timeo=10,retrans=1";

  private final NfsLab nfs = new NfsLab();
  private final ExecutorService executor = Executors.newSingleThreadExecutor();

  @TempDir Path temp;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Path folder;

  @BeforeEach
  void createArtifact() throws IOException {
    folder = SampleFolders.artifact(temp.resolve("artifact"), 1);
  }

  @AfterEach
  void close() throws Exception {
    nfs.close();
    executor.shutdownNow();
  }

  private String export() throws Exception {
    return nfs.export("store", 200, NfsLab.RIGHTS);
  }

  private FolderBlobs blobs(int node, String export) throws Exception {
    return new FolderBlobs(nfs.mount(node, export, NfsLab.HARD));
  }

  private static RemoteArtifacts artifacts(BlobStore blobs) {
    return artifacts(blobs, Clock.systemUTC(), Duration.ZERO);
  }

  private static RemoteArtifacts artifacts(BlobStore blobs, Clock clock, Duration patience) {
    return new RemoteArtifacts(blobs, StoreConformance.KEYS, Compression.ZSTD, clock, 2, patience);
  }

  private void assertWhole(BlobStore blobs, ArtifactId id) throws IOException {
    Path to = Files.createTempDirectory(temp, "fetched");
    artifacts(blobs).fetch(id, null, to, Progress.NONE);
    SampleFolders.assertEqual(to, folder);
  }

  private static void assertNothingUnfinished(Path store) {
    Path unfinished = store.resolve(FolderBlobs.UNFINISHED);
    assertThat(unfinished)
        .satisfiesAnyOf(
            it -> assertThat(it).doesNotExist(), it -> assertThat(it).isEmptyDirectory());
  }

  @ParameterizedTest
  @ValueSource(strings = {"stopped", "gone"})
  void anUploadContinuesAfterAMinuteWithoutTheServer(String how) throws Exception {
    String export = export();
    CountDownLatch lost = new CountDownLatch(1);
    FolderBlobs first = blobs(1, export);
    FolderBlobs second = blobs(2, export);
    Future<StoredArtifact> upload =
        executor.submit(
            () ->
                artifacts(first)
                    .store(
                        FIRST,
                        folder,
                        NfsLab.once(
                            () -> {
                              nfs.lose(how);
                              lost.countDown();
                              return how;
                            })));
    assertThat(lost.await(60, TimeUnit.SECONDS)).isTrue();

    assertThatThrownBy(() -> upload.get(60, TimeUnit.SECONDS)).as("without the server").isNotNull();
    assertThat(upload).isNotDone();
    nfs.network("whole");
    nfs.startServer();
    upload.get(150, TimeUnit.SECONDS);

    assertWhole(second, FIRST);
    assertNothingUnfinished(nfs.onServer(export));
  }

  @Test
  void aSoftMountReportsThatTheServerIsGoneAndALaterUploadIsWhole() throws Exception {
    String export = export();
    FolderBlobs soft = new FolderBlobs(nfs.mount(1, export, SOFT));

    assertThatThrownBy(
            () ->
                artifacts(soft)
                    .store(
                        FIRST,
                        folder,
                        NfsLab.once(
                            () -> {
                              nfs.network("gone");
                              return soft;
                            })))
        .isInstanceOf(StoreException.Unreachable.class);
    // An empty list would let a collection free every chunk.
    for (String prefix : new String[] {"", "ns/", "ns/ns-1/packs/", "ns/ns-1/artifacts/"}) {
      assertThatThrownBy(() -> soft.list(prefix)).isInstanceOf(StoreException.Unreachable.class);
    }
    nfs.network("whole");
    // The agent repeats an upload once a minute. A soft mount is stale for a moment.
    await()
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofSeconds(2))
        .ignoreExceptionsInstanceOf(StoreException.Unreachable.class)
        .until(() -> artifacts(soft).store(FIRST, folder, Progress.NONE).newBytes() > 0);

    assertWhole(blobs(2, export), FIRST);
  }

  @Test
  void anUploadThatASoftMountHasLostBytesOfCanBeRepeated() throws Exception {
    String export = export();
    FolderBlobs soft = new FolderBlobs(nfs.mount(1, export, SOFT));
    Future<StoredArtifact> upload =
        executor.submit(
            () ->
                artifacts(soft, Clock.systemUTC(), Duration.ofMinutes(2))
                    .store(
                        FIRST,
                        folder,
                        NfsLab.once(
                            () -> {
                              nfs.network("gone");
                              return soft;
                            })));
    assertThatThrownBy(() -> upload.get(20, TimeUnit.SECONDS)).isNotNull();
    nfs.network("whole");
    // The agent repeats an upload that fails in such a way.
    assertThatThrownBy(() -> upload.get(120, TimeUnit.SECONDS))
        .cause()
        .isInstanceOfSatisfying(
            StoreException.class, failure -> assertThat(failure.isTransient()).isTrue());
    artifacts(soft).store(FIRST, folder, Progress.NONE);
    assertWhole(blobs(2, export), FIRST);
  }

  @Test
  void aSlowServerIsOnlySlow() throws Exception {
    String export = export();
    FolderBlobs blobs = blobs(1, export);
    nfs.network("slow");
    artifacts(blobs).store(FIRST, folder, Progress.NONE);
    assertWhole(blobs, FIRST);
  }

  @Test
  void aFullExportIsReportedAndKeepsNoPart() throws Exception {
    String export = nfs.export("small", 5, NfsLab.RIGHTS);
    FolderBlobs blobs = blobs(1, export);

    assertThatThrownBy(() -> artifacts(blobs).store(FIRST, folder, Progress.NONE))
        .isInstanceOf(StoreException.Full.class);

    assertThat(artifacts(blobs).list("ns-1")).isEmpty();
    assertNothingUnfinished(nfs.onServer(export));
    folder = SampleFolders.small(temp.resolve("small"));
    artifacts(blobs).store(FIRST, folder, Progress.NONE);
    assertWhole(blobs, FIRST);
  }

  @Test
  void anExportThatSquashesRootIsReportedWithWhatToDo() throws Exception {
    FolderBlobs blobs = blobs(1, nfs.export("squashed", 20, "rw,root_squash"));

    assertThatThrownBy(() -> artifacts(blobs).probe())
        .isInstanceOf(StoreException.AccessDenied.class)
        .hasMessageContaining("no_root_squash");
  }

  @Test
  void aReadOnlyExportIsReportedWithWhatToDo() throws Exception {
    FolderBlobs blobs = blobs(1, nfs.export("readonly", 20, "ro,no_root_squash"));

    assertThatThrownBy(() -> artifacts(blobs).probe())
        .isInstanceOf(StoreException.AccessDenied.class)
        .hasMessageContaining("read-only");
  }

  @Test
  void aNodeThatLookedForABlobInVainSeesItAtOnceWhenItIsWritten() throws Exception {
    String export = export();
    FolderBlobs writer = blobs(3, export);
    FolderBlobs reader = blobs(4, export);
    for (String key : new String[] {"a/b/first", "a/b/second", "a/third"}) {
      assertThatThrownBy(() -> reader.stat(key)).isInstanceOf(StoreException.NotFound.class);
      writer.put(key, new byte[] {1});
      assertThat(reader.stat(key).size()).as(key).isEqualTo(1);
    }
    for (String key : new String[] {"a/c/first", "a/c/second"}) {
      assertThatThrownBy(() -> reader.get(key, 0, 1)).isInstanceOf(StoreException.NotFound.class);
      writer.put(key, new byte[] {1});
      assertThat(reader.get(key, 0, 1)).as(key).containsExactly(1);
    }
    for (String key : new String[] {"f/g/first", "f/g/second"}) {
      reader.delete(key);
      writer.put(key, new byte[] {1});
      reader.delete(key);
      assertThatThrownBy(() -> writer.stat(key)).isInstanceOf(StoreException.NotFound.class);
    }
    assertThat(reader.list("d/e/")).isEmpty();
    writer.put("d/e/first", new byte[] {1});
    assertThat(reader.list("d/e/")).hasSize(1);
    writer.put("d/e/second", new byte[] {1});
    assertThat(reader.list("d/e/")).hasSize(2);
  }

  @Test
  void aNodeSeesAtOnceWhatAnotherReplacesOrDeletes() throws Exception {
    String export = export();
    FolderBlobs writer = blobs(3, export);
    FolderBlobs reader = blobs(4, export);
    writer.put("a/b", new byte[] {1});
    assertThat(reader.get("a/b", 0, 1)).containsExactly(1);
    writer.put("a/b", new byte[] {2, 3});
    assertThat(BlobReader.whole(reader, "a/b", 9)).containsExactly(2, 3);
    assertThat(reader.stat("a/b").size()).isEqualTo(2);
    writer.put("a/b", new byte[] {4, 5, 6});
    assertThat(reader.stat("a/b").size()).isEqualTo(3);
    assertThat(reader.list("a/").get(0).size()).isEqualTo(3);
    writer.delete("a/b");
    assertThatThrownBy(() -> reader.stat("a/b")).isInstanceOf(StoreException.NotFound.class);
    assertThat(reader.list("a/")).isEmpty();
  }

  /** The client repeats it then, and the restarted server no longer knows that it has done it. */
  @ParameterizedTest
  @ValueSource(strings = {"put", "putIfAbsent", "commit", "delete"})
  void aCallWhoseAnswerIsLostInARestartOfTheServerSucceeds(String call) throws Exception {
    String export = export();
    FolderBlobs blobs = blobs(1, export);
    blobs.put("a/old", new byte[] {1});
    BlobUpload upload = blobs.upload("a/new");
    upload.part(0, ByteBuffer.wrap(new byte[] {2}));
    nfs.network("late");
    Future<?> running =
        executor.submit(
            () -> {
              switch (call) {
                case "put" -> blobs.put("a/new", new byte[] {2});
                case "putIfAbsent" ->
                    assertThat(blobs.putIfAbsent("a/new", new byte[] {2})).isTrue();
                case "commit" -> upload.commit(1, 1);
                default -> blobs.delete("a/old");
              }
              return call;
            });
    Path server = nfs.onServer(export);
    await()
        .pollInterval(Duration.ofMillis(5))
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                call.equals("delete")
                    ? Files.notExists(server.resolve("a/old"))
                    : Files.exists(server.resolve("a/new")));
    nfs.network("gone");
    assertThatThrownBy(() -> running.get(1, TimeUnit.MILLISECONDS))
        .as("its answer is on its way")
        .isInstanceOf(TimeoutException.class);
    nfs.stopServer();
    nfs.network("whole");
    nfs.startServer();

    running.get(120, TimeUnit.SECONDS);
    if (!call.equals("delete")) {
      assertThat(blobs.get("a/new", 0, 1)).containsExactly(2);
    }
    upload.abort();
    assertNothingUnfinished(server);
  }

  @ParameterizedTest
  @ValueSource(longs = {-30, 30})
  void clocksThatDifferByMoreThanADayLoseNothing(long hours) throws Exception {
    String export = export();
    Clock skewed = Clock.offset(Clock.systemUTC(), Duration.ofHours(hours));
    FolderBlobs first = blobs(1, export);
    FolderBlobs second = blobs(2, export);
    artifacts(first, skewed, Duration.ZERO).store(FIRST, folder, Progress.NONE);
    artifacts(second).store(SECOND, folder, Progress.NONE);
    artifacts(second).delete(SECOND);

    for (BlobStore node : new BlobStore[] {first, second}) {
      CollectReport report = artifacts(node, skewed, Duration.ZERO).collect("ns-1");
      assertThat(report.condemned()).isZero();
      assertThat(report.deleted()).isZero();
      assertThat(report.problems()).isEmpty();
    }
    assertWhole(second, FIRST);
  }

  @Test
  void oneOfTwoNodesPutsABlobThatIsAbsent() throws Exception {
    String export = export();
    FolderBlobs first = blobs(1, export);
    FolderBlobs second = blobs(2, export);
    for (int i = 0; i < 20; i++) {
      String key = "a/" + i;
      Future<Boolean> one = executor.submit(() -> first.putIfAbsent(key, new byte[] {1}));
      boolean two = second.putIfAbsent(key, new byte[] {2});
      assertThat(one.get(60, TimeUnit.SECONDS)).isNotEqualTo(two);
      assertThat(first.get(key, 0, 1)).containsExactly(two ? 2 : 1);
      assertThat(second.get(key, 0, 1)).containsExactly(two ? 2 : 1);
    }
  }
}
