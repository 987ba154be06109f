package dev.stasis.operator.store;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.store.Encryption;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.Kms;
import dev.stasis.api.v1beta1.store.Layout;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.operator.testing.RealCluster;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;

/** The keys of a store are those of a Secret or that of a KMS, for as long as it exists. */
@OnTestCluster(definitions = true)
class EncryptionApiServerTest {

  private static final String SOCKET = "unix:///var/run/kmsplugin/socket.sock";

  @Test
  void aStoreHasOneKindOfKeysAndKeepsIt() {
    try (RealCluster cluster = RealCluster.fromEnvironment()) {
      KubernetesClient client = cluster.client();
      String name = RealCluster.name("keys", cluster.config().namespace());
      refused(client, name, new Encryption(null, null, null), "either secretName and key, or kms");
      refused(client, name, new Encryption("keys", null, null), "either secretName and key");
      refused(
          client,
          name,
          new Encryption("keys", "2026", new Kms(SOCKET, null)),
          "either secretName and key");
      for (String endpoint :
          new String[] {
            "/var/run/kmsplugin/socket.sock",
            "unix:///run/socket.sock",
            "unix:///var/run/../socket.sock",
            "unix://@abstract/a/b/c",
            "unix:///var/run/kmsplugin/" + "s".repeat(100)
          }) {
        refused(client, name, new Encryption(null, null, new Kms(endpoint, null)), "endpoint");
      }

      client.resource(store(name, new Encryption(null, null, new Kms(SOCKET, null)))).create();
      try {
        GpuCheckpointStore rotated = store(name, new Encryption(null, null, new Kms(SOCKET, "2")));
        client.resource(rotated).patch();
        assertThatThrownBy(
                () -> client.resource(store(name, new Encryption("keys", "2026", null))).patch())
            .isInstanceOf(KubernetesClientException.class)
            .hasMessageContaining("cannot change between a Secret and kms");
      } finally {
        client.resources(GpuCheckpointStore.class).withName(name).delete();
      }
    }
  }

  private static void refused(
      KubernetesClient client, String name, Encryption encryption, String message) {
    assertThatThrownBy(() -> client.resource(store(name, encryption)).create())
        .as(String.valueOf(encryption))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining(message);
  }

  private static GpuCheckpointStore store(String name, Encryption encryption) {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.getMetadata().setName(name);
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new SharedPath("/mnt/stasis", Layout.CHUNKS)));
    store.getSpec().setEncryption(encryption);
    return store;
  }
}
