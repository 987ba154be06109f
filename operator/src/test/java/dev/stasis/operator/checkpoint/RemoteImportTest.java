package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.checkpoint.ImportSource;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.store.Layout;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RemoteImportTest {

  @Test
  void anyNodeThatReachesTheRemoteStoreImportsFromIt() {
    World world =
        Samples.world(
            spec ->
                spec.setImportFrom(
                    new ImportSource(
                        "trainer", "ml/train-0-0c9f5a4e-5d0b-4a53-9d2b-2f1f6a7f3c11", null, null)));
    GpuCheckpointStore store = world.cluster.stores.get(0);
    store.getSpec().setLocation(StoreLocation.of(new SharedPath("/mnt/chunks", Layout.CHUNKS)));

    world.settle();

    var order = world.operation(OperationType.IMPORT, 1).orElseThrow().getSpec();
    assertThat(order.getNodeName()).isEqualTo("gpu-17");
    assertThat(Objects.requireNonNull(order.getExpected()).namespaceUid())
        .as("by which the remote store keeps namespaces apart")
        .isEqualTo("namespace-1");
  }
}
