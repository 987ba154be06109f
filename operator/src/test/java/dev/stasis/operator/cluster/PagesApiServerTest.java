package dev.stasis.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.operator.testing.RealCluster;
import java.util.Map;
import org.junit.jupiter.api.Test;

@OnTestCluster(definitions = true)
class PagesApiServerTest {

  @Test
  void objectsOnLaterPagesAreFound() {
    try (RealCluster cluster = RealCluster.fromEnvironment()) {
      String namespace = cluster.namespace(Map.of());
      for (int i = 0; i < 5; i++) {
        GpuRestore restore = new GpuRestore();
        restore.getMetadata().setNamespace(namespace);
        restore.getMetadata().setName("back-" + i);
        restore.setSpec(new GpuRestoreSpec());
        restore.getSpec().setCheckpointRef(NameReference.of(i == 2 ? "other" : "train"));
        cluster.client().resource(restore).create();
      }

      assertThat(
              new Pages(cluster.client(), 2)
                  .list(
                      GpuRestore.class,
                      namespace,
                      restore -> restore.getSpec().checkpointName().equals("train")))
          .extracting(restore -> restore.getMetadata().getName())
          .containsExactlyInAnyOrder("back-0", "back-1", "back-3", "back-4");
      cluster.client().namespaces().withName(namespace).delete();
    }
  }
}
