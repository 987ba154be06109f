package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.store.ClaimVolume;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import dev.stasis.operator.selector.NodeTerms;
import dev.stasis.operator.testing.RealCluster;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An artifact in the volume of a ReadWriteOnce claim is restored where the volume is. */
@SuppressWarnings("NullAway") // what is not there fails the test
class VolumeApiServerTest extends OnApiServer {

  private static final String ID = "1".repeat(32);

  private String store;

  @BeforeEach
  void aVolumeOfOneNode() {
    store = RealCluster.name("claim", namespace);
    node(second);
    GpuCheckpointStore claim = new GpuCheckpointStore();
    claim.getMetadata().setName(store);
    claim.setSpec(new GpuCheckpointStoreSpec());
    claim.getSpec().setLocation(StoreLocation.of(new ClaimVolume("checkpoints")));
    GpuCheckpointStore created = client.resource(claim).create();
    created.setStatus(new GpuCheckpointStoreStatus());
    created.getStatus().setVolume(new VolumeStatus(ID, "pv", List.of("ReadWriteOnce"), null));
    client.resource(created).updateStatus();
    GpuCheckpoint checkpoint = Examples.checkpoint(namespace, "train");
    checkpoint.getStatus().getArtifact().setDurability(StoreDurability.REMOTE);
    checkpoint.getStatus().getArtifact().setStore(store);
    checkpoint(checkpoint);
  }

  @AfterEach
  void deleteTheStore() {
    client.resources(GpuCheckpointStore.class).withName(store).delete();
  }

  private void mounts(String node, @Nullable String volumeId) {
    client
        .resources(GpuNode.class)
        .withName(node)
        .editStatus(
            it -> {
              it.getStatus()
                  .setStores(
                      List.of(
                          new NodeStore(store, true, null, 1L << 40, 1L << 40, null, 0L, 0)
                              .withVolumeId(volumeId)));
              return it;
            });
  }

  @Test
  void theTargetIsScheduledToTheNodeThatHasTheVolume() {
    mounts(first, ID);
    mounts(second, null);
    restore(spec -> {});

    until(it -> it.getStatus().getPod() != null);

    assertThat(NodeTerms.admitsName(target().getSpec().getAffinity(), first)).isTrue();
    assertThat(NodeTerms.admitsName(target().getSpec().getAffinity(), second)).isFalse();
  }

  @Test
  void aRestoreOnAnotherNodeWaitsUntilThatNodeHasTheVolume() {
    mounts(first, ID);
    mounts(second, null);
    restore(it -> it.getSpec().setTarget(new Target(second, null, null, null)));
    GpuRestore waiting =
        until(it -> String.valueOf(it.getStatus().getMessage()).contains("expected node " + first));
    assertThat(waiting.getStatus().getReason()).isEqualTo("NoNodeFits");
    assertThat(targets()).isEmpty();

    mounts(second, ID);
    mounts(first, null);

    until(it -> it.getStatus().getPod() != null);
    assertThat(NodeTerms.admitsName(target().getSpec().getAffinity(), second)).isTrue();
  }
}
