package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.RealCluster;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Objects of a migration with strategy Recreate that a user deletes and recreates meanwhile. */
@OnTestCluster(definitions = true)
class SourceFirstObjectsApiServerTest {

  @SuppressWarnings("NullAway.Init") // made before each test
  private RealCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private String namespace;

  @BeforeEach
  void begin() {
    cluster = RealCluster.fromEnvironment();
    namespace = cluster.namespace(Map.of());
  }

  @AfterEach
  void end() {
    cluster.client().resources(GpuCheckpoint.class).inNamespace(namespace).delete();
    cluster.client().namespaces().withName(namespace).delete();
    cluster.close();
  }

  @Test
  void aRecreatedCheckpointIsNotCancelled() {
    GpuCheckpoint read = cluster.client().resource(checkpoint()).create();
    cluster.client().resource(read).delete();
    GpuCheckpoint recreated = cluster.client().resource(checkpoint()).create();

    new SourceFirstObjects(cluster.client(), new FakeCluster()).cancel(read);

    assertThat(cluster.client().resource(recreated).get().getSpec().getOptions().getCancel())
        .isFalse();
  }

  private GpuCheckpoint checkpoint() {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(
        new ObjectMetaBuilder().withNamespace(namespace).withName("train-1").build());
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.getSpec().setPodRef(PodReference.of("trainer"));
    return checkpoint;
  }
}
