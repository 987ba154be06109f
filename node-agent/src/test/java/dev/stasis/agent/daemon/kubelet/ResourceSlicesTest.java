package dev.stasis.agent.daemon.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.KubeNode;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("kubelet")
class ResourceSlicesTest {

  @Test
  void aDeviceIsFoundInTheNewestSlicesOfItsPoolAndDriver() throws Exception {
    try (KubeNode node = KubeNode.required()) {
      String driver = node.namespace() + ".example.com";
      try {
        publish(node, "old", driver, "pool", 1, "uuid: {string: GPU-old}");
        publish(node, "new", driver, "pool", 2, "uuid: {string: GPU-new}");
        publish(node, "other-pool", driver, "other", 3, "uuid: {string: GPU-other}");
        publish(node, "other-driver", "x-" + driver, "pool", 4, "uuid: {string: GPU-stranger}");
        publish(node, "domain", driver, "long", 1, "%s/uuid: {string: GPU-long}".formatted(driver));
        publish(node, "none", driver, "none", 1, "uuid: {int: 7}");

        ResourceSlices slices = new ResourceSlices(node.client());
        assertThat(slices.uuid(driver, "pool", "gpu-0")).contains("GPU-new");
        assertThat(slices.uuid(driver, "other", "gpu-0")).contains("GPU-other");
        assertThat(slices.uuid(driver, "long", "gpu-0")).contains("GPU-long");
        assertThat(slices.uuid(driver, "none", "gpu-0")).isEmpty();
        assertThat(slices.uuid(driver, "pool", "gpu-1")).isEmpty();
        assertThat(slices.uuid(driver, "unknown", "gpu-0")).isEmpty();
      } finally {
        for (String name :
            new String[] {"old", "new", "other-pool", "other-driver", "domain", "none"}) {
          node.client().load(yaml(node, name, driver, "pool", 1, "uuid: {int: 7}")).delete();
        }
      }
    }
  }

  private static void publish(
      KubeNode node, String name, String driver, String pool, int generation, String attribute) {
    node.client().load(yaml(node, name, driver, pool, generation, attribute)).create();
  }

  /** For all nodes: a kubelet deletes slices of its node whose driver it does not know. */
  private static ByteArrayInputStream yaml(
      KubeNode node, String name, String driver, String pool, int generation, String attribute) {
    String yaml =
        """
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: %s-%s}
        spec:
          driver: %s
          allNodes: true
          pool: {name: %s, generation: %d, resourceSliceCount: 1}
          devices:
          - name: gpu-0
            attributes: {%s}
        """
            .formatted(node.namespace(), name, driver, pool, generation, attribute);
    return new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8));
  }
}
