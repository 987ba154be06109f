package dev.stasis.operator.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.store.ClaimVolume;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ClaimCheckTest {

  private static final String FIRST = "1".repeat(32);
  private static final String SECOND = "2".repeat(32);

  private final ClaimCheck check = new ClaimCheck("stasis-system");

  private static PersistentVolumeClaim claim(String mode, String phase) {
    return new PersistentVolumeClaimBuilder()
        .withNewMetadata()
        .withName("checkpoints")
        .endMetadata()
        .withNewSpec()
        .withAccessModes(mode)
        .withVolumeName("pv-1")
        .endSpec()
        .withNewStatus()
        .withPhase(phase)
        .endStatus()
        .build();
  }

  private static StoreFacts.View view(String node, @Nullable String volumeId) {
    return new StoreFacts.View(
        node,
        new NodeStore("claim", true, null, null, null, null, null, null).withVolumeId(volumeId));
  }

  private VolumeStatus volume(
      @Nullable PersistentVolumeClaim claim,
      @Nullable VolumeStatus before,
      StoreFacts.View... views) {
    return check.volume(
        new ClaimVolume("checkpoints"), Optional.ofNullable(claim), before, List.of(views));
  }

  @Test
  void theFirstVolumeThatIsReportedStaysTheOneOfTheStore() {
    PersistentVolumeClaim bound = claim("ReadWriteMany", "Bound");

    VolumeStatus none = volume(bound, null, view("a", null));
    assertThat(none.id()).isNull();
    VolumeStatus first = volume(bound, none, view("a", null), view("b", FIRST), view("c", SECOND));
    assertThat(first).isEqualTo(new VolumeStatus(FIRST, "pv-1", List.of("ReadWriteMany"), null));
    assertThat(volume(bound, first, view("a", SECOND)).id()).isEqualTo(FIRST);
    assertThat(volume(null, first, view("a", SECOND)).id()).isEqualTo(FIRST);
  }

  @Test
  void aClaimThatCannotBeUsedIsReportedAndItsVolumeIsNotTaken() {
    assertRefused(null, "expected it in namespace stasis-system, got none");
    assertRefused(claim("ReadWriteMany", "Pending"), "expected phase Bound, got Pending");
    assertRefused(claim("ReadWriteMany", "Lost"), "expected phase Bound, got Lost");
    assertRefused(claim("ReadWriteOncePod", "Bound"), "got [ReadWriteOncePod]");
    assertRefused(claim("ReadOnlyMany", "Bound"), "got [ReadOnlyMany]");
    PersistentVolumeClaim block = claim("ReadWriteMany", "Bound");
    block.getSpec().setVolumeMode("Block");
    assertRefused(block, "expected volumeMode Filesystem, got Block");
    PersistentVolumeClaim going = claim("ReadWriteMany", "Bound");
    going.getMetadata().setDeletionTimestamp("2026-11-25T10:00:00Z");
    assertRefused(going, "being deleted");
  }

  private void assertRefused(@Nullable PersistentVolumeClaim claim, String why) {
    VolumeStatus volume = volume(claim, null, view("a", FIRST));
    assertThat(volume.message()).startsWith("persistentVolumeClaim checkpoints: ").contains(why);
    assertThat(volume.id()).isNull();
  }

  @Test
  void onlyAVolumeThatAllNodesMountIsReachedElsewhere() {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new ClaimVolume("checkpoints")));
    SharedStores shared = new SharedStores();
    assertThat(shared.isReachedElsewhere(store)).isFalse();

    store.setStatus(new GpuCheckpointStoreStatus());
    store.getStatus().setVolume(volume(claim("ReadWriteOnce", "Bound"), null));
    assertThat(shared.isReachedElsewhere(store)).isFalse();

    store.getStatus().setVolume(volume(claim("ReadWriteMany", "Bound"), null));
    assertThat(shared.isReachedElsewhere(store)).isTrue();
  }
}
