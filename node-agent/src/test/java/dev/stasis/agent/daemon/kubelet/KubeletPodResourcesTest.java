package dev.stasis.agent.daemon.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.testing.KubeNode;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class KubeletPodResourcesTest {

  private static final String FIRST = "GPU-00000000-0000-0000-0000-000000000002";
  private static final String SECOND = "GPU-00000000-0000-0000-0000-000000000001";

  /** In the driver's order, which is not that of their names. */
  private static final List<Gpu> NODE = List.of(gpu(0, FIRST), gpu(1, SECOND));

  @Test
  @Tag("kubelet")
  void gpusComeInTheNodesOrderAndReplicasAreTheGpuThatTheyShare() throws Exception {
    try (KubeNode node = KubeNode.required();
        NodeSocket socket = new NodeSocket(node.podResourcesSocket())) {
      KubeletPodResources resources =
          new KubeletPodResources(socket, () -> NODE, (driver, pool, device) -> Optional.empty());

      node.gpus(SECOND, FIRST + "::0", FIRST + "::1");
      node.start(with(node.pod("all", "sleep", "1000").build(), 3));
      assertThat(resources.of(node.namespace(), "all", "main"))
          .containsExactly(new GpuUuid(FIRST), new GpuUuid(SECOND));
      assertThat(resources.of(node.namespace(), "all", "other")).isEmpty();
      assertThat(resources.of("elsewhere", "all", "main")).isEmpty();
    }
  }

  @Test
  @Tag("kubelet")
  void aDeviceThatIsNoGpuOfTheNodeIsNone() throws Exception {
    try (KubeNode node = KubeNode.required();
        NodeSocket socket = new NodeSocket(node.podResourcesSocket())) {
      KubeletPodResources resources =
          new KubeletPodResources(socket, () -> NODE, (driver, pool, device) -> Optional.empty());
      node.gpus("MIG-1234");
      node.start(with(node.pod("slice", "sleep", "1000").build(), 1));

      assertThat(resources.of(node.namespace(), "slice", "main")).isEmpty();
    }
  }

  private static Pod with(Pod pod, int gpus) {
    return pod.edit()
        .editSpec()
        .editFirstContainer()
        .withNewResources()
        .addToLimits("nvidia.com/gpu", new Quantity("" + gpus))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }

  private static Gpu gpu(int index, String uuid) {
    return new Gpu(
        index, new GpuUuid(uuid), "Test", 1L << 30, 1L << 30, "0000:0" + index, "9.0", false, true);
  }
}
