package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/** Artifacts in a folder of an NFS server, which two nodes have mounted. */
@EnabledIfEnvironmentVariable(
    named = NfsPublicationTest.SERVER,
    matches = ".+",
    disabledReason = "no NFS server to stop and start: e2e/nfs/run has one")
class NfsPublicationTest {
  /** Set by e2e/nfs/run: the script that controls the server. */
  static final String SERVER = "STASIS_NFS_SERVER";

  private final Samples samples = new Samples();
  private final ExecutorService threads = Executors.newFixedThreadPool(2);

  @TempDir Path temp = Path.of("/");

  @SuppressWarnings("NullAway.Init") // made before each test
  private Process process;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Writer commands;

  @SuppressWarnings("NullAway.Init") // made before each test
  private BufferedReader results;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Path server;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Path first;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Path second;

  @BeforeEach
  void mount() throws Exception {
    // One process for all commands: without the server, a JVM that writes to it cannot start any.
    process =
        new ProcessBuilder(System.getenv(SERVER), "serve")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    commands = process.outputWriter();
    results = process.inputReader();
    String export = "artifacts-" + Long.toHexString(System.nanoTime());
    server("export", export, "40", "rw,no_root_squash");
    first = Files.createDirectory(temp.resolve("first"));
    second = Files.createDirectory(temp.resolve("second"));
    server("mount", "1", export, first.toString(), "vers=4.2,hard");
    server("mount", "2", export, second.toString(), "vers=4.2,hard");
    server = Path.of("/run/nfs/disks", export);
  }

  @AfterEach
  void unmount() throws Exception {
    threads.shutdownNow();
    server("network", "whole");
    server("start");
    for (Path folder : List.of(first, second)) {
      server("umount", folder.toString());
    }
    commands.close();
    process.waitFor();
  }

  /** The store of a namespace, on a node. */
  private static ArtifactStore store(Path node) throws IOException {
    return new ArtifactStore(Files.createDirectories(node.resolve("ns")), Clock.systemUTC());
  }

  private static Opened opened(Path node) throws IOException {
    return new ArtifactReader(1, Progress.NONE).open(node.resolve("ns/a"), null);
  }

  private List<String> onServer() throws IOException {
    try (Stream<Path> entries = Files.list(server.resolve("ns"))) {
      return entries.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void aNodeThatLookedForAnArtifactInVainOpensItAtOnceWhenItIsPublished() throws Exception {
    assertThat(opened(second)).isInstanceOf(Opened.Refused.class);
    samples.sealed(store(first), "a", temp);
    assertThat(opened(second)).isInstanceOf(Opened.Verified.class);

    store(first).delete("a");
    assertThat(opened(second))
        .isInstanceOfSatisfying(
            Opened.Refused.class,
            refused -> assertThat(refused.kind()).isEqualTo(Opened.Kind.MISSING));
    assertThat(new SharedLookup(second.resolve("ns/a")).exists()).isFalse();
    samples.sealed(store(first), "a", Files.createDirectory(temp.resolve("again")));
    assertThat(new SharedLookup(second.resolve("ns/a")).exists()).isTrue();
    assertThat(opened(second)).isInstanceOf(Opened.Verified.class);
  }

  @Test
  void exactlyOneOfTwoNodesPublishesAName() throws Exception {
    store(first);
    CyclicBarrier barrier = new CyclicBarrier(2);
    List<Callable<Boolean>> work = new ArrayList<>();
    for (Path node : List.of(first, second)) {
      work.add(
          () -> {
            try (ArtifactStage stage = store(node).stage("a")) {
              samples.fill(stage);
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
    assertThat(onServer()).containsExactly("a");
    assertThat(opened(first)).isInstanceOf(Opened.Verified.class);
    assertThat(opened(second)).isInstanceOf(Opened.Verified.class);
  }

  /** The client keeps a file that is open under the name .nfs..., in a folder that must go. */
  @Test
  void anArtifactThatThisNodeReadsIsSweptOnceItIsRead() throws Exception {
    samples.sealed(store(first), "a", temp);
    try (FileChannel reader =
        FileChannel.open(first.resolve("ns/a/criu/pages-1.img"), StandardOpenOption.READ)) {
      assertThat(reader.size()).isPositive();
      try {
        store(first).delete("a");
      } catch (IOException e) {
        assertThat(e).hasMessageContaining(".staging-a-");
      }
      assertThat(opened(first)).isInstanceOf(Opened.Refused.class);
    }
    Clock later = Clock.offset(Clock.systemUTC(), Duration.ofDays(2));
    ArtifactStore next = new ArtifactStore(first.resolve("ns"), later);
    next.sweep(next.leftovers(Duration.ofDays(1), true));
    assertThat(onServer()).isEmpty();
  }

  @Test
  void anArtifactThatAnotherNodeDeletesIsNotReadAsAWholeOne() throws Exception {
    samples.sealed(store(first), "a", temp);
    assertThat(opened(second)).isInstanceOf(Opened.Verified.class);
    try (FileChannel reader =
        FileChannel.open(second.resolve("ns/a/criu/pages-1.img"), StandardOpenOption.READ)) {
      assertThat(reader.size()).isPositive();
      store(first).delete("a");
      assertThat(onServer()).isEmpty();
    }
    assertThat(opened(second)).isInstanceOf(Opened.Refused.class);
  }

  @Test
  void aPublicationContinuesWhenTheServerRestarts() throws Exception {
    ArtifactStage stage = store(first).stage("a");
    samples.fill(stage);
    server("stop");
    Future<ArtifactStage.SealedArtifact> sealed =
        threads.submit(() -> stage.seal(samples.draft(), 1, Progress.NONE));
    assertThatThrownBy(() -> sealed.get(15, TimeUnit.SECONDS)).isNotNull();
    assertThat(sealed).isNotDone();
    server("start");
    sealed.get(120, TimeUnit.SECONDS);
    assertThat(opened(second)).isInstanceOf(Opened.Verified.class);
    assertThat(onServer()).containsExactly("a");
  }

  /** The client repeats the rename, and the restarted server no longer knows that it did it. */
  @Test
  void aPublicationWhoseAnswerIsLostInARestartOfTheServerSucceeds() throws Exception {
    Path namespace = Files.createDirectories(first.resolve("ns"));
    ArtifactStage stage =
        new ArtifactStore(namespace, Clock.systemUTC(), new LateRename()).stage("a");
    samples.fill(stage);
    Future<ArtifactStage.SealedArtifact> sealed =
        threads.submit(() -> stage.seal(samples.draft(), 1, Progress.NONE));
    await()
        .pollInterval(Duration.ofMillis(5))
        .atMost(Duration.ofMinutes(1))
        .until(() -> Files.exists(server.resolve("ns/a")));
    server("network", "gone");
    assertThatThrownBy(() -> sealed.get(1, TimeUnit.MILLISECONDS))
        .as("the answer is on its way")
        .isInstanceOf(TimeoutException.class);
    server("stop");
    server("network", "whole");
    server("start");

    sealed.get(120, TimeUnit.SECONDS);
    assertThat(opened(second)).isInstanceOf(Opened.Verified.class);
    assertThat(onServer()).containsExactly("a");
  }

  /** The real file system, on which the answers to a rename and to what follows are late. */
  private final class LateRename implements StoreFiles {
    private final StoreFiles real = new LinuxStoreFiles();

    @Override
    public void createFolder(Path folder) throws IOException {
      real.createFolder(folder);
    }

    @Override
    public void write(Path file, byte[] bytes) throws IOException {
      real.write(file, bytes);
    }

    @Override
    public void sync(Path fileOrFolder) throws IOException {
      real.sync(fileOrFolder);
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
      server("network", "late");
      real.rename(from, to);
    }

    @Override
    public void delete(Path fileOrFolder) throws IOException {
      real.delete(fileOrFolder);
    }
  }

  private void server(String... words) throws IOException {
    String command = String.join(" ", words);
    commands.write(command + "\n");
    commands.flush();
    assertThat(results.readLine()).as(command).isEqualTo("ok");
  }
}
