package dev.stasis.operator.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.store.ClaimVolume;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import dev.stasis.operator.testing.RealCluster;
import dev.stasis.operator.testing.TestOperator;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** A claim is bound by the cluster's controller, and its volume is the one of the store. */
@OnTestCluster(definitions = true)
class ClaimOnApiServerTest {

  /** A claim is polled every 15 s, on a machine that may be busy. */
  private static final Duration LONG = Duration.ofSeconds(120);

  private static final String FIRST = "1".repeat(32);
  private static final String SECOND = "2".repeat(32);

  @Test
  void theStoreFollowsItsClaimAndKeepsItsVolume() {
    try (RealCluster cluster = RealCluster.fromEnvironment();
        TestOperator operator =
            TestOperator.start(cluster, Clock.systemUTC(), List.of(StoreParts::reconciler))) {
      assertThat(operator).isNotNull();
      KubernetesClient client = cluster.client();
      String system = cluster.config().namespace();
      String name = RealCluster.name("claim", system);
      String node = RealCluster.name("gpu-1", system);
      client.resource(store(name)).create();
      until(() -> reason(client, name).equals("ClaimNotUsable"));
      assertThat(volume(client, name).message()).contains("got none; create it");

      client.resource(disk(name, system)).create();
      client.resource(claim(name, system)).create();
      until(() -> reason(client, name).equals("WaitingForAgent"));
      assertThat(volume(client, name).name()).isEqualTo(name);
      assertThat(volume(client, name).id()).isNull();

      GpuNode agent = cluster.with(agent(node, name, FIRST));
      until(() -> FIRST.equals(volume(client, name).id()));
      assertThat(volume(client, name).accessModes()).containsExactly("ReadWriteMany");

      agent.getStatus().setStores(List.of(seen(name, SECOND)));
      client.resource(agent).updateStatus();
      client.persistentVolumeClaims().inNamespace(system).withName(name).delete();
      until(() -> reason(client, name).equals("ClaimNotUsable"));
      assertThat(volume(client, name).id()).isEqualTo(FIRST);
      client.resources(GpuNode.class).withName(node).delete();
      client.resource(store(name)).delete();
      client.persistentVolumes().withName(name).delete();
    }
  }

  private static void until(Callable<Boolean> wanted) {
    await().atMost(LONG).until(wanted);
  }

  private static String reason(KubernetesClient client, String name) {
    return Optional.ofNullable(
            client.resources(GpuCheckpointStore.class).withName(name).get().getStatus())
        .map(status -> status.getReason())
        .orElse("");
  }

  private static VolumeStatus volume(KubernetesClient client, String name) {
    return Objects.requireNonNull(
        client.resources(GpuCheckpointStore.class).withName(name).get().getStatus().getVolume());
  }

  private static GpuCheckpointStore store(String name) {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.getMetadata().setName(name);
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new ClaimVolume(name)));
    return store;
  }

  private static PersistentVolume disk(String name, String system) {
    return new PersistentVolumeBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .addToCapacity("storage", new Quantity("1Gi"))
        .withAccessModes("ReadWriteMany")
        .withPersistentVolumeReclaimPolicy("Retain")
        .withStorageClassName("")
        .withNewClaimRef()
        .withNamespace(system)
        .withName(name)
        .endClaimRef()
        .withNewHostPath("/var/tmp/none", "Directory")
        .endSpec()
        .build();
  }

  private static PersistentVolumeClaim claim(String name, String system) {
    return new PersistentVolumeClaimBuilder()
        .withNewMetadata()
        .withNamespace(system)
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withAccessModes("ReadWriteMany")
        .withStorageClassName("")
        .withVolumeName(name)
        .withNewResources()
        .addToRequests("storage", new Quantity("1Gi"))
        .endResources()
        .endSpec()
        .build();
  }

  private static NodeStore seen(String store, String volumeId) {
    return new NodeStore(store, true, null, 1L << 30, 1L << 30, null, 0L, 0).withVolumeId(volumeId);
  }

  private static GpuNode agent(String node, String store, String volumeId) {
    GpuNode agent = new GpuNode();
    agent.getMetadata().setName(node);
    agent.setStatus(new GpuNodeStatus());
    agent.getStatus().setStores(List.of(seen(store, volumeId)));
    return agent;
  }
}
