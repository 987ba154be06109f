package dev.stasis.agent.daemon.sweep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.daemon.remote.NoClaims;
import dev.stasis.agent.daemon.remote.RemoteStores;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.store.Encryption;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.Layout;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.artifact.Progress;
import dev.stasis.store.ArtifactId;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoredArtifact;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemoteSweepTest {

  private static final ArtifactId ID = new ArtifactId("namespace-1", "uid-1");
  private static final int SIZE = 8 << 20;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  private final Map<String, byte[]> secret = new HashMap<>();
  private final RemoteStores remotes =
      new RemoteStores(name -> secret, new NoClaims(), Clock.systemUTC());
  private final GpuCheckpointStore store = new GpuCheckpointStore();

  @BeforeEach
  void anArtifactWasDeletedDaysAgo() throws IOException {
    Path remote = Files.createDirectory(folder.resolve("remote"));
    Files.createDirectories(local().resolve("ml"));
    store.getMetadata().setName("remote");
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new SharedPath(remote.toString(), Layout.CHUNKS)));
    Path artifact = Files.createDirectory(folder.resolve("artifact"));
    byte[] bytes = new byte[SIZE];
    new Random(1).nextBytes(bytes);
    Files.write(artifact.resolve("memory"), bytes);
    try (RemoteArtifacts artifacts = remotes.open(store)) {
      var unused = artifacts.store(ID, artifact, Progress.NONE);
      artifacts.delete(ID);
    }
    age();
  }

  private Path local() {
    return folder.resolve("local");
  }

  /** Everything in the store is two days older. */
  private void age() throws IOException {
    for (Path file : files()) {
      Files.setLastModifiedTime(
          file,
          FileTime.from(Files.getLastModifiedTime(file).toInstant().minus(Duration.ofDays(2))));
    }
  }

  private java.util.List<Path> files() throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve("remote"))) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  private long bytes() throws IOException {
    long bytes = 0;
    for (Path file : files()) {
      bytes += Files.size(file);
    }
    return bytes;
  }

  private void sweep(int day) throws IOException {
    Clock clock = Clock.fixed(Instant.now().plus(Duration.ofDays(day)), java.time.ZoneOffset.UTC);
    new RemoteSweep(remotes, clock).sweep(store, local());
  }

  @Test
  void unusedChunksAreFreedAfterDays() throws Exception {
    assertThat(bytes()).isGreaterThan(SIZE);

    sweep(0);
    age();
    sweep(2);

    assertThat(bytes()).isLessThan(SIZE / 2);
  }

  @Test
  void aNodeSweepsOnceADay() throws Exception {
    sweep(0);
    age();
    sweep(0);

    assertThat(bytes()).isGreaterThan(SIZE);
  }

  @Test
  void aNodeSweepsWhenItIsAskedTo() throws Exception {
    sweep(0);
    age();
    store.getSpec().getOptions().setCollectAfter(Instant.now());
    sweep(0);

    assertThat(bytes()).isLessThan(SIZE / 2);
  }

  @Test
  void aNodeThatHasNotUsedTheStoreDoesNotSweepIt() throws Exception {
    Files.delete(local().resolve("ml"));

    sweep(0);

    assertThat(Files.exists(local().resolve(".swept"))).isFalse();
  }

  @Test
  void afterARotationTheOldKeyIsNeededNoMore() throws Exception {
    Path remote = Files.createDirectory(folder.resolve("encrypted"));
    store.getSpec().setLocation(StoreLocation.of(new SharedPath(remote.toString(), Layout.CHUNKS)));
    secret.put("2026", new byte[32]);
    store.getSpec().setEncryption(new Encryption("keys", "2026", null));
    StoredArtifact stored;
    try (RemoteArtifacts artifacts = remotes.open(store)) {
      stored = artifacts.store(ID, folder.resolve("artifact"), Progress.NONE);
    }
    byte[] next = new byte[32];
    next[0] = 1;
    secret.put("2027", next);
    store.getSpec().setEncryption(new Encryption("keys", "2027", null));

    sweep(0);

    secret.remove("2026");
    try (RemoteArtifacts artifacts = remotes.open(store)) {
      assertThat(artifacts.inspect(ID)).isEqualTo(stored);
    }
  }
}
