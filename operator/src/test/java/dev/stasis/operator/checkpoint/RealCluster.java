package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1alpha1.node.NodeStore;
import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.event.ClusterEvents;
import dev.stasis.operator.operation.ClusterOperations;
import dev.stasis.operator.operation.OperationSource;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.ClusterPodWrites;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.testing.Heartbeats;
import dev.stasis.operator.testing.TestConfig;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/** A real API server with one node that is made up, and an operator that can be started anew. */
final class RealCluster implements AutoCloseable {

  /** A request to an API server nearby takes milliseconds; one under load still answers by then. */
  private static final int REQUEST_MILLISECONDS = 20_000;

  private static final long SERVED_SECONDS = 60;

  /** A few requests; one waits for twenty seconds at most. */
  private static final Duration LAST_WORK = Duration.ofSeconds(30);

  private static final String[] DEFINITIONS = {
    "gpucheckpoints",
    "gpurestores",
    "gpumigrations",
    "gpucheckpointschedules",
    "gpupreemptionpolicies",
    "gpunodes",
    "gpunodeoperations",
    "gpucheckpointstores"
  };

  final KubernetesClient client;
  final String namespace = "ckpt-" + UUID.randomUUID().toString().substring(0, 8);
  final String system = namespace + "-system";
  final String node = "node-" + namespace;
  final String store = "store-" + namespace;
  final TestConfig settings;
  private @Nullable Heartbeats heartbeats;
  private @Nullable Operator operator;
  private @Nullable Informers informers;

  private RealCluster(KubernetesClient client) {
    this.client = client;
    this.settings = new TestConfig(system);
  }

  static RealCluster fromEnvironment() {
    String kubeconfig = System.getenv("KUBECONFIG");
    if (kubeconfig == null || kubeconfig.isBlank()) {
      String why = "skipped: no API server, KUBECONFIG is not set; see bin/with-kube";
      System.err.println(why);
      Assumptions.abort(why);
    }
    KubernetesClient client =
        new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder().withRequestTimeout(REQUEST_MILLISECONDS).build())
            .build();
    RealCluster cluster = new RealCluster(client);
    cluster.furnish();
    return cluster;
  }

  private void furnish() {
    for (String plural : DEFINITIONS) {
      define(plural);
    }
    for (String name : List.of(namespace, system)) {
      client
          .namespaces()
          .resource(new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build())
          .create();
    }
    // Pods are refused until it is there.
    client
        .serviceAccounts()
        .inNamespace(namespace)
        .withName("default")
        .waitUntilCondition(it -> it != null, SERVED_SECONDS, TimeUnit.SECONDS);
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
    heartbeats = new Heartbeats(client, Clock.systemUTC(), node);
  }

  private void define(String plural) {
    try (InputStream yaml =
        Objects.requireNonNull(
            GpuCheckpoint.class.getResourceAsStream("/crds/" + plural + ".stasis.dev.yaml"),
            plural)) {
      CustomResourceDefinition definition =
          client.getKubernetesSerialization().unmarshal(yaml, CustomResourceDefinition.class);
      var resource = client.apiextensions().v1().customResourceDefinitions().resource(definition);
      resource.forceConflicts().serverSideApply();
      resource.waitUntilCondition(
          it ->
              it != null
                  && it.getStatus() != null
                  && it.getStatus().getConditions() != null
                  && it.getStatus().getConditions().stream()
                      .anyMatch(
                          c -> c.getType().equals("Established") && c.getStatus().equals("True")),
          SERVED_SECONDS,
          TimeUnit.SECONDS);
      // Established says that it is known; lists are refused for a moment longer.
      var context = CustomResourceDefinitionContext.fromCrd(definition);
      Awaitility.await()
          .atMost(Duration.ofSeconds(SERVED_SECONDS))
          .ignoreExceptionsInstanceOf(KubernetesClientException.class)
          .until(() -> client.genericKubernetesResources(context).list() != null);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** An operator that knows nothing but what the API server has. */
  void startOperator() {
    startOperator(watches -> List.of());
  }

  /** The same with further reconcilers. */
  void startOperator(Function<Informers, List<Reconciler<?>>> more) {
    Clock clock = Clock.systemUTC();
    Informers watches = new Informers(client, settings);
    CheckpointReconciler reconciler =
        new CheckpointReconciler(
            watches,
            new ClusterOperations(client, watches, settings),
            new ClusterPodWrites(client, clock),
            new ClusterEvents(client, clock),
            client,
            new Changes(client.getKubernetesSerialization()),
            clock,
            settings,
            new WakeUps(watches, new OperationSource(watches), clock),
            new Departure(client, TestWebhooks.config(namespace)));
    Operator started =
        new Operator(
            overrider ->
                overrider
                    .withKubernetesClient(client)
                    .withCloseClientOnStop(false)
                    // Who is started anew is alone, as a process is whose forerunner has ended.
                    .withReconciliationTerminationTimeout(LAST_WORK)
                    .withUseSSAToPatchPrimaryResource(false)
                    .checkingCRDAndValidateLocalModel(false));
    started.register(reconciler);
    more.apply(watches).forEach(started::register);
    started.start();
    operator = started;
    informers = watches;
  }

  void stopOperator() {
    if (operator != null && informers != null) {
      operator.stop();
      informers.stop();
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
    checkpoint.getSpec().setPodName("trainer");
    checkpoint.getSpec().setStore(store);
    spec.accept(checkpoint.getSpec());
    return client.resource(checkpoint).create();
  }

  @Nullable GpuCheckpoint get(String name) {
    return client.resources(GpuCheckpoint.class).inNamespace(namespace).withName(name).get();
  }

  @Override
  public void close() {
    stopOperator();
    if (heartbeats != null) {
      heartbeats.close();
    }
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
    client.namespaces().withName(system).delete();
    client.nodes().withName(node).delete();
    client.resources(GpuNode.class).withName(node).delete();
    client.resources(GpuCheckpointStore.class).withName(store).delete();
    client.close();
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
