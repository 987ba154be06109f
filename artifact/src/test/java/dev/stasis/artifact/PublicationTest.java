package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("jvm")
class PublicationTest {
  @TempDir Path temp = Path.of("/");
  private final Samples samples = new Samples();

  @Test
  void aFailureAtAnyStepLeavesNoArtifactOrAWholeOneAndTheStageCanBeDiscarded() throws Exception {
    // The last step forgets the owner of a stage that is an artifact by then: no failure.
    int steps = stepsOfAWholeRun() - 1;
    for (int step = 1; step <= steps; step++) {
      Path folder = Files.createDirectory(temp.resolve("io" + step));
      ArtifactStore store = store(folder, FailingFiles.at(step, "disk is full"));

      try {
        samples.sealed(store, "a", Files.createDirectory(temp.resolve("scratch" + step)));
        throw new AssertionError("step " + step + " did not fail");
      } catch (IOException e) {
        assertThat(e).hasMessageContaining("disk is full");
      }
      assertNoHalfArtifact(folder, step);
      assertThat(visible(folder)).as("step " + step).noneMatch(n -> n.matches("\\.staging.*[^r]"));
    }
  }

  @Test
  void aCrashAtAnyStepLeavesNoHalfArtifactAndItsRemainsAreSweptOnceTheWriterIsGone()
      throws Exception {
    int steps = stepsOfAWholeRun();
    for (int step = 1; step <= steps; step++) {
      Path folder = Files.createDirectory(temp.resolve("crash" + step));
      // After the crash nothing of the writer runs any more, so its clean-up fails as well.
      ArtifactStore store = store(folder, FailingFiles.from(step, "crashed"));
      Path scratch = Files.createDirectory(temp.resolve("scratch" + step));
      if (step < steps) {
        assertThatThrownBy(() -> samples.sealed(store, "a", scratch)).hasMessageContaining("crash");
      } else {
        samples.sealed(store, "a", scratch);
      }
      assertNoHalfArtifact(folder, step);

      ArtifactStore next = new ArtifactStore(folder, Clock.systemUTC());
      assertThat(next.leftovers(Duration.ofDays(1), false)).as("its writer lives").isEmpty();
      writersAreGone(folder);
      next.sweep(next.leftovers(Duration.ofDays(1), false));
      assertThat(visible(folder)).as("step " + step).noneMatch(name -> name.startsWith("."));
      assertNoHalfArtifact(folder, step);
    }
  }

  /** Linux reports lost bytes once, and the next sync succeeds without them. */
  @ParameterizedTest
  @EnumSource
  void aStageIsNotSealedAfterAFailedSync(Durability later) throws Exception {
    FailingFiles whole = FailingFiles.at(Integer.MAX_VALUE, "");
    try (ArtifactStage stage =
        store(Files.createDirectory(temp.resolve("whole")), whole).stage("a")) {
      samples.fill(stage);
      stage.seal(samples.draft(), 1, Progress.NONE);
    }
    List<String> calls = whole.calls();
    for (int sync : List.of(1 + calls.indexOf("sync inventory.img"), calls.indexOf("rename a"))) {
      Path folder = Files.createDirectory(temp.resolve("lost" + sync));
      try (ArtifactStage stage = store(folder, FailingFiles.at(sync, "I/O error")).stage("a")) {
        samples.fill(stage);
        assertThatThrownBy(() -> stage.seal(samples.draft(), 1, Progress.NONE))
            .isInstanceOf(FailedSyncException.class);

        assertThatThrownBy(() -> stage.seal(samples.draft(), later, 1, Progress.NONE))
            .isInstanceOf(FailedSyncException.class)
            .hasMessageContaining("I/O error");
        assertThat(visible(folder)).doesNotContain("a");
      }
      assertThat(visible(folder)).isEmpty();
    }
  }

  /** Its seal may wait for a disk in another thread. */
  @Test
  void aStageThatIsRevokedDuringItsSealIsNeverPublishedAndCanBeDiscarded() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("revoked"));
    try (ArtifactStage stage = new ArtifactStore(folder, Clock.systemUTC()).stage("a")) {
      samples.fill(stage);

      assertThatThrownBy(() -> stage.seal(samples.draft(), 1, (done, total) -> stage.revoke()))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("expected an open stage");
      assertThat(visible(folder)).doesNotContain("a");
    }
    assertThat(visible(folder)).isEmpty();
  }

  @Test
  void aPublishedArtifactCannotBeRevoked() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("published"));
    try (ArtifactStage stage = new ArtifactStore(folder, Clock.systemUTC()).stage("a")) {
      samples.fill(stage);
      stage.seal(samples.draft(), 1, Progress.NONE);

      assertThat(stage.revoke()).isFalse();
    }
    assertThat(visible(folder)).contains("a");
  }

  @Test
  void theManifestIsWrittenLastAndTheParentIsSyncedAfterTheRename() throws Exception {
    FailingFiles files = FailingFiles.at(Integer.MAX_VALUE, "");
    Path folder = Files.createDirectory(temp.resolve("order"));

    samples.sealed(store(folder, files), "a", temp);

    List<String> calls = files.calls();
    int manifest = calls.indexOf("write manifest.json");
    int rename = calls.indexOf("rename a");
    for (String file : List.of("pages-1.img", "inventory.img", "root.tar", "1.data", "1.chunks")) {
      assertThat(calls.indexOf("sync " + file)).as(file).isBetween(0, manifest);
    }
    assertThat(calls.subList(manifest, rename))
        .contains("sync manifest.json", "sync criu", "sync layer", "sync regions")
        .endsWith("sync STAGING");
    assertThat(calls.get(rename + 1)).isEqualTo("sync .");
  }

  @Test
  void anArtifactIsNeverReplaced() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("taken"));
    ArtifactStore store = new ArtifactStore(folder, Clock.systemUTC());
    String digest = samples.sealed(store, "a", temp).sha256();

    assertThatThrownBy(() -> store.stage("a"))
        .hasMessageContaining("expected an unused name, got one that is in use");
    assertThat(visible(folder)).containsExactly("a");
    assertVerified(store.path("a"), digest);
  }

  @Test
  void exactlyOneOfManyWritersOfANamePublishes() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("race"));
    ArtifactStore store = new ArtifactStore(folder, Clock.systemUTC());
    int writers = 8;
    CyclicBarrier barrier = new CyclicBarrier(writers);
    ExecutorService threads = Executors.newFixedThreadPool(writers);
    try {
      List<Callable<Boolean>> work = new ArrayList<>();
      for (int i = 0; i < writers; i++) {
        work.add(
            () -> {
              try (ArtifactStage stage = store.stage("a")) {
                samples.fill(stage);
                // A dead writer must fail the test, not hang it.
                barrier.await(60, TimeUnit.SECONDS);
                stage.seal(samples.draft(), 1, Progress.NONE);
                return true;
              } catch (IOException e) {
                return false;
              }
            });
      }
      int won = 0;
      for (Future<Boolean> result : threads.invokeAll(work)) {
        won += result.get() ? 1 : 0;
      }
      assertThat(won).isEqualTo(1);
    } finally {
      threads.shutdownNow();
    }
    assertThat(visible(folder)).containsExactly("a");
    assertVerified(store.path("a"), null);
  }

  @Test
  void aFullDiskFailsThePublicationAndLeavesNothing() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("small"));
    run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", folder.toString());
    try {
      ArtifactStore store = new ArtifactStore(folder, Clock.systemUTC());
      Path data = temp.resolve("big");
      ChunkTable table = samples.stage(data, 40, 1 << 16);
      try (ArtifactStage stage = store.stage("a")) {
        samples.fill(stage);
        assertThatThrownBy(() -> stage.addRegions(1, data, table, List.of(), 2, Progress.NONE))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("No space left on device");
      }
      assertThat(visible(folder)).isEmpty();
      assertThat(store.room(table.storedBytes()).fits()).isFalse();
    } finally {
      run("umount", folder.toString());
    }
  }

  @Test
  void aStageOfAnUnknownWriterIsSweptOnlyAfterALongTimeWithoutChanges() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("shared"));
    ArtifactStore store = new ArtifactStore(folder, Clock.systemUTC());
    Path staging = Files.createDirectory(folder.resolve(".staging-a-0011"));
    Files.write(
        folder.resolve(".staging-a-0011.owner"),
        new StagingOwner("another-node", "boot", 1, 1).bytes());

    assertThat(store.leftovers(Duration.ofHours(1), false)).isEmpty();
    Clock later = Clock.fixed(Instant.now().plus(Duration.ofHours(2)), ZoneOffset.UTC);
    assertThat(new ArtifactStore(folder, later).leftovers(Duration.ofHours(1), false))
        .containsExactly(staging);
    assertThat(new ArtifactStore(folder, later).leftovers(Duration.ofHours(1), true))
        .as("in a store that other nodes write to")
        .isEmpty();
    Files.writeString(staging.resolve("pages-1.img"), "still writing");
    Files.setLastModifiedTime(staging.resolve("pages-1.img"), FileTime.from(later.instant()));
    assertThat(new ArtifactStore(folder, later).leftovers(Duration.ofHours(1), false)).isEmpty();
  }

  @Test
  void theRemainsOfAKilledDeletionAreFoundAtOnce() throws Exception {
    for (int step = 1; ; step++) {
      Path folder = Files.createDirectory(temp.resolve("deletion" + step));
      Path scratch = Files.createDirectory(temp.resolve("deletion-scratch" + step));
      samples.sealed(new ArtifactStore(folder, Clock.systemUTC()), "a", scratch);
      try {
        store(folder, FailingFiles.from(step, "crashed")).delete("a");
        break;
      } catch (IOException e) {
        writersAreGone(folder);
        ArtifactStore next = new ArtifactStore(folder, Clock.systemUTC());
        next.sweep(next.leftovers(Duration.ofDays(1), true));
        assertThat(visible(folder)).as("step " + step).noneMatch(name -> name.startsWith("."));
        assertNoHalfArtifact(folder, step);
      }
    }
  }

  /** NFS keeps a file that is being read, so that its folder cannot be deleted. */
  @Test
  void aDeletionThatFailsIsCompletedByASweepWhileItsProcessLives() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("busy"));
    samples.sealed(new ArtifactStore(folder, Clock.systemUTC()), "a", temp);
    FailingFiles files = FailingFiles.at(4, "Directory not empty");
    assertThatThrownBy(() -> store(folder, files).delete("a")).hasMessage("Directory not empty");
    assertThat(files.calls()).element(3).isEqualTo("delete STAGING");

    Clock later = Clock.fixed(Instant.now().plus(Duration.ofHours(2)), ZoneOffset.UTC);
    ArtifactStore next = new ArtifactStore(folder, later);
    next.sweep(next.leftovers(Duration.ofHours(1), true));
    assertThat(visible(folder)).isEmpty();
  }

  @Test
  void onlyStagingFoldersOfTheStoreAreSwept() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("sweep"));
    ArtifactStore store = new ArtifactStore(folder, Clock.systemUTC());

    for (Path other : List.of(folder.resolve("a"), temp.resolve(".staging-a-1"), folder)) {
      assertThatThrownBy(() -> store.sweep(List.of(other)))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  private int stepsOfAWholeRun() throws IOException {
    FailingFiles counter = FailingFiles.at(Integer.MAX_VALUE, "");
    samples.sealed(
        store(Files.createDirectory(temp.resolve("count")), counter),
        "a",
        Files.createDirectory(temp.resolve("count-scratch")));
    assertThat(counter.calls().size()).isGreaterThan(15);
    return counter.calls().size();
  }

  private static ArtifactStore store(Path folder, StoreFiles files) {
    return new ArtifactStore(folder, Clock.systemUTC(), files);
  }

  private static void assertNoHalfArtifact(Path folder, int step) throws IOException {
    if (Files.exists(folder.resolve("a"))) {
      Opened opened = new ArtifactReader(1, Progress.NONE).open(folder.resolve("a"), null);
      assertThat(opened).as("step " + step).isInstanceOf(Opened.Verified.class);
    }
  }

  private static void assertVerified(Path path, @Nullable String digest) throws IOException {
    assertThat(new ArtifactReader(1, Progress.NONE).open(path, digest))
        .isInstanceOf(Opened.Verified.class);
  }

  /** Makes every staging folder that of a process that has ended. */
  private static void writersAreGone(Path folder) throws IOException {
    StagingOwner here = StagingOwner.current();
    for (String name : visible(folder)) {
      if (name.endsWith(".owner")) {
        StagingOwner gone =
            new StagingOwner(here.host(), here.boot(), here.pid(), here.startTime() - 1);
        Files.write(folder.resolve(name), gone.bytes());
      }
    }
  }

  private static List<String> visible(Path folder) throws IOException {
    try (var entries = Files.list(folder)) {
      return entries.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  private static void run(String... command) throws Exception {
    assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
  }
}
