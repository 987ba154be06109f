package dev.stasis.operator.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.node.RemoteUsage;
import dev.stasis.api.v1beta1.node.StoredNamespace;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.Layout;
import dev.stasis.api.v1beta1.store.NamespaceUsage;
import dev.stasis.api.v1beta1.store.Quota;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A remote store counts what it holds, not what that stands for. */
class StoredBytesTest {

  private static final long GIB = 1L << 30;
  private static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");

  private final GpuCheckpointStore store = store();
  private final List<GpuNode> nodes = new ArrayList<>();
  private final List<GpuCheckpoint> checkpoints = new ArrayList<>();

  private static GpuCheckpointStore store() {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.getMetadata().setName("chunks");
    store.getMetadata().setGeneration(1L);
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new SharedPath("/mnt/chunks", Layout.CHUNKS)));
    store.getSpec().setQuota(new Quota(null, new Quantity("40Gi"), null));
    store.setStatus(new GpuCheckpointStoreStatus());
    return store;
  }

  /**
   * @param added what its upload added to the store
   * @param stored when the upload ended; null: it is still at work
   */
  private void checkpoint(String name, long bytes, long added, @Nullable Instant stored) {
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore("chunks");
    artifact.setBytes(bytes);
    artifact.setDurability(StoreDurability.REMOTE);
    artifact.setNode(stored == null ? "node1" : null);
    artifact.setNewBytes(stored == null ? null : added);
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.getMetadata().setNamespace("ml");
    checkpoint.getMetadata().setName(name);
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.setStatus(new GpuCheckpointStatus());
    checkpoint.getStatus().setArtifact(artifact);
    if (stored != null) {
      checkpoint
          .getStatus()
          .setConditions(
              List.of(new Condition("Stored", ConditionValue.TRUE, "Uploaded", "", stored, 1L)));
    }
    checkpoints.add(checkpoint);
  }

  private void measured(String node, Instant time, long bytes) {
    GpuNode found = new GpuNode();
    found.getMetadata().setName(node);
    found.setStatus(new GpuNodeStatus());
    found
        .getStatus()
        .setStores(
            List.of(
                new NodeStore(
                    "chunks",
                    true,
                    null,
                    500 * GIB,
                    400 * GIB,
                    null,
                    0L,
                    0,
                    null,
                    new RemoteUsage(
                        time,
                        900 * GIB,
                        bytes + GIB,
                        List.of(
                            new StoredNamespace("uid-ml", bytes),
                            new StoredNamespace("uid-of-a-deleted-one", GIB))),
                    null)));
    nodes.add(found);
  }

  private GpuCheckpointStoreStatus status() {
    new StoreStatus(Clock.fixed(NOON, ZoneOffset.UTC))
        .write(facts(), List.of(store), Map.of("uid-ml", "ml"), store.getStatus());
    return store.getStatus();
  }

  private StoreFacts facts() {
    return StoreFacts.of(store, nodes, checkpoints);
  }

  private List<String> refusals(long bytes) {
    return new StoreRoom().quota(facts(), "ml", bytes).stream().map(Fault::message).toList();
  }

  @Test
  void theColumnsShowStoredAndLogicalSizes() {
    checkpoint("a", 30 * GIB, 10 * GIB, NOON.minusSeconds(600));
    checkpoint("b", 30 * GIB, 2 * GIB, NOON.minusSeconds(60));
    measured("node1", NOON.minusSeconds(3600), 3 * GIB);
    measured("node2", NOON.minusSeconds(300), 10 * GIB);

    GpuCheckpointStoreStatus status = status();

    assertThat(status.getUsed()).as("measured 11, and 2 since").isEqualTo("13.0Gi");
    assertThat(status.getLogical()).isEqualTo("60.0Gi");
    assertThat(status.getRatio()).isEqualTo("4.6");
    assertThat(status.getCapacity()).isEqualTo("900.0Gi");
    assertThat(status.getMeasuredTime()).isEqualTo(NOON.minusSeconds(300));
    assertThat(status.getNamespaces())
        .containsExactly(new NamespaceUsage("ml", 12 * GIB, "12.0Gi", 2, 60 * GIB, 10 * GIB));
    assertThat(status().getUsed()).as("written again, the same").isEqualTo("13.0Gi");
  }

  @Test
  void aQuotaCountsStoredBytes() {
    checkpoint("a", 30 * GIB, 10 * GIB, NOON.minusSeconds(600));
    checkpoint("b", 30 * GIB, 2 * GIB, NOON.minusSeconds(60));
    assertThat(refusals(28 * GIB)).as("nothing was measured yet").isEmpty();
    assertThat(refusals(29 * GIB)).singleElement().asString().contains("12.0Gi used");

    measured("node1", NOON.minusSeconds(300), 10 * GIB);
    var unused = status();
    assertThat(refusals(28 * GIB)).isEmpty();
    assertThat(refusals(29 * GIB)).singleElement().asString().contains("12.0Gi used");
  }

  @Test
  void anUploadInProgressCountsInFull() {
    checkpoint("a", 30 * GIB, 0, null);

    assertThat(refusals(10 * GIB)).isEmpty();
    assertThat(refusals(11 * GIB)).singleElement().asString().contains("30.0Gi used");
  }

  @Test
  void chunksOfDeletedArtifactsCountUntilTheyAreFreed() {
    measured("node1", NOON.minusSeconds(300), 35 * GIB);
    var unused = status();
    assertThat(refusals(6 * GIB)).singleElement().asString().contains("35.0Gi used");

    measured("node1", NOON, 5 * GIB);
    var unusedToo = status();
    assertThat(refusals(6 * GIB)).isEmpty();
  }

  @Test
  void theTotalQuotaIsTheCapacity() {
    store.getSpec().setQuota(new Quota(new Quantity("2Ti"), null, null));
    measured("node1", NOON, 5 * GIB);

    assertThat(status().getCapacity()).isEqualTo("2.0Ti");
    assertThat(new StoreRoom().quota(facts(), "ml", 2043 * GIB)).as("6 are used").hasSize(1);
    assertThat(new StoreRoom().quota(facts(), "ml", 2042 * GIB)).isEmpty();
  }
}
