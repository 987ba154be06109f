package dev.stasis.operator.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.NamespaceUsage;
import dev.stasis.api.v1beta1.store.NodeLocal;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.operator.metric.Leadership;
import dev.stasis.operator.testing.Unconnected;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

public class StoreMetricsTest {

  private static final long GIB = 1L << 30;

  /** A store on two nodes: one with room, one that is full although no artifact is on it. */
  public static void publish(MeterRegistry registry) {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.setMetadata(new ObjectMetaBuilder().withName("local").build());
    GpuCheckpointStoreSpec spec = new GpuCheckpointStoreSpec();
    spec.setLocation(StoreLocation.of(new NodeLocal("/var/lib/stasis")));
    spec.getOptions().setMinFree(new Quantity("10Gi"));
    store.setSpec(spec);
    GpuCheckpointStoreStatus status = new GpuCheckpointStoreStatus();
    status.setNamespaces(List.of(new NamespaceUsage("ml", 6 * GIB, "6Gi", 2)));
    store.setStatus(status);
    Map<String, GpuNode> nodes =
        Map.of("node1", node("node1", 60 * GIB), "node2", node("node2", 4 * GIB));
    new StoreMetrics(Unconnected.informers(), new Leadership(), registry)
        .publish(
            List.of(store),
            List.copyOf(nodes.values()),
            (name, node) ->
                Optional.of(
                    StoreFacts.of(
                        store, List.of(Objects.requireNonNull(nodes.get(node))), List.of())));
  }

  private static GpuNode node(String name, long free) {
    GpuNode node = new GpuNode();
    node.setMetadata(new ObjectMetaBuilder().withName(name).build());
    GpuNodeStatus status = new GpuNodeStatus();
    status.setStores(List.of(new NodeStore("local", true, null, 100 * GIB, free, null, 0L, 0)));
    node.setStatus(status);
    return node;
  }

  @Test
  void theRoomOfEachNodeIsToldEvenWhereNoArtifactIs() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    publish(registry);

    assertThat(registry.get("stasis_store_free_bytes").tag("node", "node1").gauge().value())
        .isEqualTo(50 * GIB);
    assertThat(registry.get("stasis_store_free_bytes").tag("node", "node2").gauge().value())
        .isZero();
    assertThat(registry.get("stasis_store_capacity_bytes").tag("node", "node2").gauge().value())
        .isEqualTo(100 * GIB);
    assertThat(registry.get("stasis_store_bytes").tag("namespace", "ml").gauge().value())
        .isEqualTo(6 * GIB);
  }
}
