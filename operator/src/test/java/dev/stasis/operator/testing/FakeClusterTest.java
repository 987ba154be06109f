package dev.stasis.operator.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import io.fabric8.kubernetes.api.model.LimitRangeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two namespaces hold objects of the same names; each read shows those of its namespace only. */
class FakeClusterTest {

  private final FakeCluster cluster = new FakeCluster();

  @BeforeEach
  void fill() {
    for (String namespace : new String[] {"ml", "research"}) {
      cluster.pods.add(
          new PodBuilder()
              .withMetadata(meta(namespace, "trainer"))
              .withNewSpec()
              .endSpec()
              .withNewStatus()
              .endStatus()
              .build());
      cluster.checkpoints.add(checkpoint(namespace));
      cluster.restores.add(restore(namespace));
      cluster.quotas.add(new ResourceQuotaBuilder().withMetadata(meta(namespace, "quota")).build());
      cluster.ranges.add(new LimitRangeBuilder().withMetadata(meta(namespace, "range")).build());
    }
  }

  @Test
  void aReadShowsTheObjectsOfItsNamespaceOnly() {
    assertThat(cluster.pods("research")).hasSize(1);
    assertThat(cluster.pod("research", "trainer").orElseThrow().getMetadata().getUid())
        .isEqualTo("research/trainer");
    assertThat(cluster.checkpoint("research", "train-1").orElseThrow().getMetadata().getUid())
        .isEqualTo("research/train-1");
    assertThat(cluster.checkpoints("research")).hasSize(1);
    assertThat(cluster.checkpointsOf("research", "trainer")).hasSize(1);
    assertThat(cluster.restoresOf("research", "train-1"))
        .singleElement()
        .satisfies(it -> assertThat(it.getMetadata().getUid()).isEqualTo("research/back"));
    assertThat(cluster.quotas("research")).hasSize(1);
    assertThat(cluster.ranges("research")).hasSize(1);
  }

  @Test
  void anotherNamespaceIsEmpty() {
    assertThat(cluster.pod("other", "trainer")).isEmpty();
    assertThat(cluster.checkpoint("other", "train-1")).isEmpty();
    assertThat(cluster.restoresOf("other", "train-1")).isEmpty();
  }

  @Test
  void aStoreHoldsTheCheckpointsOfAllNamespaces() {
    assertThat(cluster.checkpointsIn("shared")).hasSize(2);
    assertThat(cluster.checkpointsIn("local")).isEmpty();
  }

  private static GpuCheckpoint checkpoint(String namespace) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(meta(namespace, "train-1"));
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.getSpec().setPodRef(PodReference.of("trainer"));
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore("shared");
    status.setArtifact(artifact);
    checkpoint.setStatus(status);
    return checkpoint;
  }

  private static GpuRestore restore(String namespace) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(meta(namespace, "back"));
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of("train-1"));
    return restore;
  }

  private static ObjectMeta meta(String namespace, String name) {
    return new ObjectMetaBuilder()
        .withNamespace(namespace)
        .withName(name)
        .withUid(namespace + "/" + name)
        .build();
  }
}
