package dev.stasis.agent.daemon.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.store.ClaimVolume;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import dev.stasis.artifact.Progress;
import dev.stasis.store.ArtifactId;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores in the volume of a claim. */
class ClaimStoresTest {

  private static final ArtifactId ID = new ArtifactId("ns-1", "uid-1");

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  private boolean mounted = true;

  @SuppressWarnings("NullAway.Init") // set before each test
  private Path volume;

  private final GpuCheckpointStore store = new GpuCheckpointStore();
  private final RemoteStores remotes =
      new RemoteStores(
          name -> Map.of(),
          found -> new ClaimMounts.MountedVolume(volume, this::require),
          Clock.systemUTC());
  private final RemoteProbes probes = new RemoteProbes(remotes, Clock.systemUTC());

  @BeforeEach
  void aClaimIsMounted() throws Exception {
    volume = Files.createDirectory(folder.resolve("volume"));
    store.getMetadata().setName("claim");
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new ClaimVolume("checkpoints")));
  }

  private void require() throws StoreException {
    if (!mounted) {
      throw new StoreException.Unreachable("not mounted", null);
    }
  }

  /** What the operator does once an agent has reported the volume. */
  private void accept(@Nullable String id, @Nullable String message) {
    store.setStatus(new GpuCheckpointStoreStatus());
    store.getStatus().setVolume(new VolumeStatus(id, "pv-1", List.of("ReadWriteMany"), message));
  }

  private void acceptVolume() throws StoreException {
    accept(Objects.requireNonNull(probes.volumeId(store)), null);
  }

  private void upload() throws Exception {
    Path artifact = Files.createDirectories(folder.resolve("artifact"));
    Files.writeString(artifact.resolve("memory"), "pages");
    try (RemoteArtifacts remote = remotes.open(store)) {
      var unused = remote.store(ID, artifact, Progress.NONE);
    }
  }

  @Test
  void aVolumeIsNotUsedBeforeItIsTheOneOfTheStore() throws Exception {
    assertThat(probes.volumeId(store)).matches("[0-9a-f]{32}");
    assertThatThrownBy(() -> remotes.open(store))
        .isInstanceOf(StoreException.Unreachable.class)
        .hasMessageContaining("claim checkpoints");

    acceptVolume();
    upload();
    assertThat(probes.require(store)).isNotNull();
    try (RemoteArtifacts remote = remotes.open(store)) {
      assertThat(remote.inspect(ID).logicalBytes()).isPositive();
    }
  }

  @Test
  void anEmptiedOrExchangedVolumeIsNoEmptyStore() throws Exception {
    acceptVolume();
    upload();
    volume = Files.createDirectory(folder.resolve("empty"));

    assertThat(probes.volumeId(store)).as("it gets no identity").isNull();
    assertThatThrownBy(() -> remotes.open(store))
        .isInstanceOf(StoreException.Foreign.class)
        .hasMessageContaining("got none")
        .hasMessageContaining("create another store");
    assertThatThrownBy(() -> probes.require(store)).isInstanceOf(StoreException.Foreign.class);
    assertThat(volume).isEmptyDirectory();

    Files.writeString(volume.resolve("volume"), "0".repeat(32));
    assertThatThrownBy(() -> remotes.open(store)).isInstanceOf(StoreException.Foreign.class);
  }

  @Test
  void anArtifactOfAVolumeThatIsNotMountedIsNotMissing() throws Exception {
    acceptVolume();
    upload();
    try (RemoteArtifacts remote = remotes.open(store)) {
      mounted = false;
      volume = Files.createDirectory(folder.resolve("empty"));

      assertThatThrownBy(() -> remote.inspect(ID)).isInstanceOf(StoreException.Unreachable.class);
      assertThatThrownBy(() -> remote.delete(ID)).isInstanceOf(StoreException.Unreachable.class);
      assertThatThrownBy(remote::namespaces).isInstanceOf(StoreException.Unreachable.class);
    }
    assertThatThrownBy(() -> remotes.open(store)).isInstanceOf(StoreException.Unreachable.class);
    assertThatThrownBy(() -> probes.volumeId(store)).isInstanceOf(StoreException.Unreachable.class);
    assertThat(volume).isEmptyDirectory();
  }

  @Test
  void aClaimThatGoesCanBeReadAndNotWrittenTo() throws Exception {
    acceptVolume();
    upload();
    accept(probes.volumeId(store), "persistentVolumeClaim checkpoints: going");

    assertThatThrownBy(() -> probes.require(store))
        .isInstanceOf(StoreException.Refused.class)
        .hasMessageContaining("going");
    try (RemoteArtifacts remote = remotes.open(store)) {
      assertThat(remote.inspect(ID).logicalBytes()).isPositive();
    }
  }

  @Test
  void aMountThatGoesIsReportedAtTheNextProbe() throws Exception {
    acceptVolume();
    assertThat(probes.require(store)).isNotNull();
    mounted = false;

    assertThatThrownBy(() -> probes.require(store)).isInstanceOf(StoreException.Unreachable.class);
  }
}
