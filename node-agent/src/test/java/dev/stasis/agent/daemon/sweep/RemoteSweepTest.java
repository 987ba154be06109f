package dev.stasis.agent.daemon.sweep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.daemon.remote.FakeKmsPlugin;
import dev.stasis.agent.daemon.remote.NoClaims;
import dev.stasis.agent.daemon.remote.RemoteStores;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.store.Encryption;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.Kms;
import dev.stasis.api.v1beta1.store.Layout;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.artifact.Progress;
import dev.stasis.store.ArtifactId;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RemoteSweepTest {

  private static final ArtifactId ID = new ArtifactId("namespace-1", "uid-1");
  private static final int SIZE = 8 << 20;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  @SuppressWarnings("NullAway.Init")
  private Path remote;

  private final Map<String, byte[]> secret = new HashMap<>();
  private final RemoteStores remotes =
      new RemoteStores(name -> secret, new NoClaims(), Clock.systemUTC());
  private final GpuCheckpointStore store = new GpuCheckpointStore();

  @BeforeEach
  void anArtifactWasDeletedDaysAgo() throws IOException {
    remote = Files.createDirectory(folder.resolve("remote"));
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
    try (Stream<Path> files = Files.walk(remote)) {
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

  /** The time of this file is that of the last sweep by any node. */
  private Path marker() {
    return remote.resolve("swept");
  }

  private void sweep(int day) throws IOException {
    sweep(day, local());
  }

  private void sweep(int day, Path local) throws IOException {
    Clock clock = Clock.fixed(Instant.now().plus(Duration.ofDays(day)), java.time.ZoneOffset.UTC);
    new RemoteSweep(remotes, clock).sweep(store, local);
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
  void aNodeWithoutCopiesLeavesTheStoreToANodeThatSweepsIt() throws Exception {
    Path other = Files.createDirectory(folder.resolve("other"));
    sweep(0);
    Instant swept = Files.getLastModifiedTime(marker()).toInstant();
    age();
    Files.setLastModifiedTime(marker(), FileTime.from(swept));

    sweep(0, other);
    assertThat(bytes()).isGreaterThan(SIZE);

    sweep(1, other);
    assertThat(bytes()).isLessThan(SIZE / 2);
  }

  @Test
  void aNodeWithoutCopiesSweepsAStoreWhoseNodesAreGone() throws Exception {
    Files.delete(local().resolve("ml"));

    sweep(0);
    age();
    sweep(1);

    assertThat(bytes()).isLessThan(SIZE / 2);
  }

  @Test
  void aNodeWhoseKmsRefusesTheRewrapLeavesItToOtherNodes() throws Exception {
    Path socket = folder.resolve("kms.sock");
    try (FakeKmsPlugin kms = new FakeKmsPlugin(socket)) {
      encrypt(new Encryption(null, null, new Kms("unix://" + socket, null)));
      kms.rotate("key-2");
      store.getSpec().setEncryption(new Encryption(null, null, new Kms("unix://" + socket, "old")));
      sweep(0);
      assertThat(marker()).doesNotExist();

      store.getSpec().setEncryption(new Encryption(null, null, new Kms("unix://" + socket, null)));
      sweep(0, Files.createDirectory(folder.resolve("other")));
      assertThat(marker()).exists();

      kms.forget("key-1");
      try (RemoteArtifacts artifacts = remotes.open(store)) {
        assertThat(artifacts.inspect(ID)).isNotNull();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theOldKeyIsNotNeededAfterARotation(boolean copies) throws Exception {
    secret.put("2026", new byte[32]);
    StoredArtifact stored = encrypt(new Encryption("keys", "2026", null));
    if (!copies) {
      Files.delete(local().resolve("ml"));
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

  @Test
  void aNamespaceThatCannotBeSweptDelaysNoOther() throws Exception {
    damageTheKeyOfAnEarlierNamespace();

    assertThatThrownBy(() -> sweep(0)).isInstanceOf(StoreException.class);
    age();
    assertThatThrownBy(() -> sweep(2)).isInstanceOf(StoreException.class);

    assertThat(bytes()).isLessThan(SIZE / 2);
    assertThat(marker()).as("another node tries").doesNotExist();
  }

  @Test
  void aNamespaceThatCannotBeRewrappedDelaysNoOther() throws Exception {
    secret.put("2026", new byte[32]);
    StoredArtifact stored = encrypt(new Encryption("keys", "2026", null));
    damageTheKeyOfAnEarlierNamespace();
    byte[] next = new byte[32];
    next[0] = 1;
    secret.put("2027", next);
    store.getSpec().setEncryption(new Encryption("keys", "2027", null));

    assertThatThrownBy(() -> sweep(0)).isInstanceOf(StoreException.class);

    secret.remove("2026");
    try (RemoteArtifacts artifacts = remotes.open(store)) {
      assertThat(artifacts.inspect(ID)).isEqualTo(stored);
    }
  }

  private void damageTheKeyOfAnEarlierNamespace() throws IOException {
    Path keys = Files.createDirectories(remote.resolve("ns/aaa/keys"));
    Files.writeString(keys.resolve("x.json"), "damaged");
  }

  @Test
  void aSweepThatCouldNotBeginIsRepeated() throws Exception {
    secret.put("2026", new byte[32]);
    encrypt(new Encryption("keys", "2026", null));
    secret.clear();
    assertThatThrownBy(() -> sweep(0)).isInstanceOf(StoreException.class);

    secret.put("2026", new byte[32]);
    sweep(0);

    assertThat(marker()).exists();
  }

  /** Stores the artifact in a new store with that encryption. */
  private StoredArtifact encrypt(Encryption encryption) throws IOException {
    remote = Files.createDirectory(folder.resolve("encrypted"));
    store.getSpec().setLocation(StoreLocation.of(new SharedPath(remote.toString(), Layout.CHUNKS)));
    store.getSpec().setEncryption(encryption);
    try (RemoteArtifacts artifacts = remotes.open(store)) {
      return artifacts.store(ID, folder.resolve("artifact"), Progress.NONE);
    }
  }
}
