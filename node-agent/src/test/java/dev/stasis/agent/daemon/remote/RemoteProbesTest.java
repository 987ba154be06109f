package dev.stasis.agent.daemon.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.node.RemoteUsage;
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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One node at a time measures what a remote store holds. */
class RemoteProbesTest {

  private static final int SIZE = 1 << 20;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  private final LaterClock clock = new LaterClock();
  private final RemoteStores remotes =
      new RemoteStores(name -> Map.of(), new NoClaims(), Clock.systemUTC());
  private final GpuCheckpointStore store = new GpuCheckpointStore();
  private final RemoteProbes one = new RemoteProbes(remotes, clock);
  private final RemoteProbes other = new RemoteProbes(remotes, clock);

  private static final class LaterClock extends Clock {
    private Duration later = Duration.ZERO;

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return Instant.now().plus(later);
    }
  }

  @BeforeEach
  void anArtifactIsStored() throws IOException {
    store.getMetadata().setName("chunks");
    store.setSpec(new GpuCheckpointStoreSpec());
    Path remote = Files.createDirectory(folder.resolve("remote"));
    store.getSpec().setLocation(StoreLocation.of(new SharedPath(remote.toString(), Layout.CHUNKS)));
    Path artifact = Files.createDirectory(folder.resolve("artifact"));
    byte[] bytes = new byte[SIZE];
    new Random(1).nextBytes(bytes);
    Files.write(artifact.resolve("memory"), bytes);
    try (RemoteArtifacts artifacts = remotes.open(store)) {
      var unused = artifacts.store(new ArtifactId("ns-1", "uid-1"), artifact, Progress.NONE);
    }
  }

  /** The store's clock is that of its file system. */
  private void measuredLater(Duration later) throws IOException {
    Files.setLastModifiedTime(
        folder.resolve("remote/measured"), FileTime.from(Instant.now().plus(later)));
  }

  @Test
  void theFirstNodeMeasuresAndTheOthersDoNot() throws IOException {
    RemoteUsage usage = Objects.requireNonNull(one.require(store));

    assertThat(usage.bytes()).isGreaterThan(SIZE);
    assertThat(usage.capacityBytes()).isPositive();
    assertThat(Objects.requireNonNull(usage.namespaces()))
        .singleElement()
        .satisfies(
            namespace -> {
              assertThat(namespace.uid()).isEqualTo("ns-1");
              assertThat(namespace.bytes()).isEqualTo(usage.bytes());
            });
    assertThat(other.require(store)).isNull();
    assertThat(one.require(store)).as("it still says so").isEqualTo(usage);
  }

  @Test
  void afterAnHourAnotherNodeMayMeasureAndTheFirstSaysNothingMore() throws IOException {
    assertThat(one.require(store)).isNotNull();
    clock.later = Duration.ofHours(2);

    assertThat(other.require(store)).isNotNull();
    measuredLater(clock.later);
    assertThat(one.require(store)).isNull();
  }

  @Test
  void aKmsPluginThatIsGoneIsReportedAtTheNextLook() throws Exception {
    Path socket = folder.resolve("kms.sock");
    Path remote = Files.createDirectory(folder.resolve("encrypted"));
    store.getSpec().setLocation(StoreLocation.of(new SharedPath(remote.toString(), Layout.CHUNKS)));
    store.getSpec().setEncryption(new Encryption(null, null, new Kms("unix://" + socket, null)));
    try (FakeKmsPlugin plugin = new FakeKmsPlugin(socket)) {
      assertThat(one.require(store)).isNotNull();
    }

    assertThatThrownBy(() -> one.require(store)).isInstanceOf(StoreException.KmsUnreachable.class);
    try (FakeKmsPlugin plugin = new FakeKmsPlugin(socket)) {
      assertThat(one.require(store)).as("what was measured before").isNotNull();
    }
  }
}
