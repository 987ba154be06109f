package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.testing.Heartbeats;
import dev.stasis.operator.testing.RealCluster;
import dev.stasis.operator.testing.TestOperator;
import dev.stasis.operator.testing.TestOperator.Parts;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The test cluster with one node of its own, and an operator that can be restarted. */
final class SingleNodeCluster implements AutoCloseable {

  private final RealCluster real;
  final KubernetesClient client;
  final String namespace;
  final String system;
  final String node;
  final String store;
  final StasisConfig settings;
  private final Heartbeats heartbeats;
  private @Nullable TestOperator operator;

  private SingleNodeCluster(RealCluster real) {
    this.real = real;
    this.client = real.client();
    this.settings = real.config();
    this.system = settings.namespace();
    this.namespace = real.namespace(Map.of());
    this.node = RealCluster.name("node", namespace);
    this.store = RealCluster.name("store", namespace);
    this.heartbeats = new Heartbeats(client, Clock.systemUTC());
  }

  static SingleNodeCluster create() {
    SingleNodeCluster cluster = new SingleNodeCluster(RealCluster.fromEnvironment());
    cluster.furnish();
    return cluster;
  }

  private void furnish() {
    Node made = Samples.node(node);
    client.nodes().resource(made).create();
    // The controllers write there too, so nothing depends on the version.
    client
        .nodes()
        .withName(node)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            client.getKubernetesSerialization().asJson(Map.of("status", made.getStatus())));
    GpuNode gpuNode = Samples.gpuNode(node, Clock.systemUTC().instant());
    Objects.requireNonNull(gpuNode.getStatus())
        .setStores(
            Objects.requireNonNull(gpuNode.getStatus().getStores()).stream()
                .map(seen -> new NodeStore(store, true, null, 1L << 42, 1L << 41, "2Ti", 0L, 0))
                .toList());
    var status = gpuNode.getStatus();
    GpuNode created = client.resource(gpuNode).create();
    created.setStatus(status);
    client.resource(created).updateStatus();
    GpuCheckpointStore local = Samples.store(store);
    local.getSpec().setIsDefault(false);
    client.resource(local).create();
    heartbeats.agent(node);
    heartbeats.kubelet(node);
  }

  /** Starts an operator that knows only what the API server has. */
  void startOperator() {
    startOperator(List.of());
  }

  /** Starts the same operator with further reconcilers. */
  void startOperator(List<Function<Parts, Reconciler<?>>> more) {
    List<Function<Parts, Reconciler<?>>> all = new ArrayList<>(more);
    all.add(0, parts -> CheckpointParts.reconciler(parts, namespace));
    operator = TestOperator.start(real, Clock.systemUTC(), all);
  }

  void stopOperator() {
    if (operator != null) {
      operator.close();
    }
    operator = null;
  }

  /** A pod that runs, as far as the API server knows. */
  Pod pod(String name) {
    Pod pod =
        new PodBuilder(Samples.pod())
            .withNewMetadata()
            .withNamespace(namespace)
            .withName(name)
            .endMetadata()
            .editSpec()
            .withNodeName(node)
            .withAutomountServiceAccountToken(false)
            .editFirstContainer()
            .editResources()
            .addToRequests("nvidia.com/gpu", new Quantity("1"))
            .endResources()
            .endContainer()
            .endSpec()
            .withStatus(null)
            .build();
    client.pods().resource(pod).create();
    return client
        .pods()
        .inNamespace(namespace)
        .withName(name)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"phase\":\"Running\"}}");
  }

  GpuCheckpoint checkpoint(String name, Consumer<GpuCheckpointSpec> spec) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(new ObjectMetaBuilder().withNamespace(namespace).withName(name).build());
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.getSpec().setPodRef(PodReference.of("trainer"));
    checkpoint.getSpec().setStorageRef(NameReference.ofNullable(store));
    spec.accept(checkpoint.getSpec());
    return client.resource(checkpoint).create();
  }

  @Nullable GpuCheckpoint get(String name) {
    return client.resources(GpuCheckpoint.class).inNamespace(namespace).withName(name).get();
  }

  @Override
  public void close() {
    stopOperator();
    heartbeats.close();
    client
        .resources(GpuNodeOperation.class)
        .inNamespace(system)
        .list()
        .getItems()
        .forEach(this::free);
    client
        .resources(GpuCheckpoint.class)
        .inNamespace(namespace)
        .list()
        .getItems()
        .forEach(this::free);
    // A namespace takes its time; who asks for all that are evicted or suspended does not mean
    // these.
    client.resources(GpuCheckpoint.class).inNamespace(namespace).delete();
    client.namespaces().withName(namespace).delete();
    client.nodes().withName(node).delete();
    client.resources(GpuNode.class).withName(node).delete();
    client.resources(GpuCheckpointStore.class).withName(store).delete();
    real.close();
  }

  private void free(HasMetadata object) {
    try {
      client
          .resource(object)
          .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"finalizers\":null}}");
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }
}
