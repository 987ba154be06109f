package dev.stasis.operator.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.NodeLocal;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.compat.NodeFacts;
import dev.stasis.operator.node.NodeParts;
import dev.stasis.operator.testing.FakeKubelet;
import dev.stasis.operator.testing.RealCluster;
import dev.stasis.operator.testing.TestOperator;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

@OnTestCluster(definitions = true)
class StoresAndLabelsOnApiServerTest {

  /** Each wait is for a few writes of a machine that may be busy. */
  private static final Duration LONG = Duration.ofSeconds(120);

  @SuppressWarnings("NullAway.Init") // set by the test
  private String node;

  @SuppressWarnings("NullAway.Init") // set by the test
  private String local;

  @Test
  void labelsFollowTheGpuNodeAndStoresFollowBoth() {
    try (RealCluster cluster = RealCluster.fromEnvironment();
        FakeKubelet kubelet = new FakeKubelet(cluster.client());
        TestOperator operator =
            TestOperator.start(
                cluster,
                Clock.systemUTC(),
                List.of(StoreParts::reconciler, NodeParts::reconciler))) {
      assertThat(operator).isNotNull();
      KubernetesClient client = cluster.client();
      node = RealCluster.name("gpu-1", cluster.config().namespace());
      local = RealCluster.name("local", cluster.config().namespace());
      String second = RealCluster.name("second", cluster.config().namespace());
      kubelet.node(node, 1);
      client.resource(store(local)).create();
      until(() -> "WaitingForAgent".equals(reason(client, local)));

      cluster.with(gpuNode());
      until(() -> "StoreReady".equals(reason(client, local)));
      until(() -> ours(client).containsKey(NodeFacts.gpusLabel(1)));
      assertThat(status(client, local).getUsed()).isEqualTo("2.0Gi");

      client.resource(store(second)).create();
      until(() -> "SeveralDefaults".equals(reason(client, local)));
      client.resource(store(second)).delete();
      until(() -> "StoreReady".equals(reason(client, local)));

      Map<String, String> before = ours(client);
      RealCluster.beside(
          () ->
              client
                  .nodes()
                  .withName(node)
                  .edit(
                      it ->
                          new NodeBuilder(it)
                              .editMetadata()
                              .removeFromLabels(NodeFacts.gpusLabel(1))
                              .addToLabels(NodeFacts.gpusLabel(8), "untrue")
                              .addToLabels("zone", "a")
                              .endMetadata()
                              .build()));
      until(() -> ours(client).equals(before));

      client.resources(GpuNode.class).withName(node).delete();
      until(() -> ours(client).isEmpty());
      assertThat(client.nodes().withName(node).get().getMetadata().getLabels())
          .containsEntry("zone", "a");
      until(() -> "WaitingForAgent".equals(reason(client, local)));
      client.resource(store(local)).delete();
    }
  }

  private static void until(Callable<Boolean> wanted) {
    await().atMost(LONG).until(wanted);
  }

  private Map<String, String> ours(KubernetesClient client) {
    Map<String, String> ours =
        new TreeMap<>(client.nodes().withName(node).get().getMetadata().getLabels());
    ours.keySet().removeIf(key -> !key.startsWith(NodeFacts.LABEL_PREFIX));
    return ours;
  }

  private static GpuCheckpointStoreStatus status(KubernetesClient client, String name) {
    return client.resources(GpuCheckpointStore.class).withName(name).get().getStatus();
  }

  private static String reason(KubernetesClient client, String name) {
    return Optional.ofNullable(status(client, name)).map(it -> it.getReason()).orElse("");
  }

  private static GpuCheckpointStore store(String name) {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.getMetadata().setName(name);
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setIsDefault(true);
    store.getSpec().setLocation(StoreLocation.of(new NodeLocal("/var/lib/stasis")));
    return store;
  }

  private GpuNode gpuNode() {
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    GpuNode agent = new GpuNode();
    agent.getMetadata().setName(node);
    NodeHost host = new NodeHost();
    host.setDriver("580.105.08");
    host.setFingerprint("cpu.architecture=amd64\ncriu.version=4.2.1\n");
    GpuNodeStatus status = new GpuNodeStatus();
    status.setHost(host);
    status.setGpus(
        List.of(
            new NodeGpu(
                "GPU-a",
                0,
                "NVIDIA H200",
                143771L << 20,
                null,
                null,
                "9.0",
                false,
                0,
                false,
                null)));
    status.setStores(
        List.of(new NodeStore(local, true, null, 100L << 30, 50L << 30, null, 2L << 30, 1)));
    status.setAgent(new AgentIdentity("0.1.0", null, now, now, null, null));
    agent.setStatus(status);
    return agent;
  }
}
