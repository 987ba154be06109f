package dev.stasis.operator.migration;

import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.migration.GpuMigrationSpec;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.Capability;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.NodeLocal;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.operator.checkpoint.CheckpointParts;
import dev.stasis.operator.node.NodeParts;
import dev.stasis.operator.restore.RestoreParts;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.testing.FakeKubelet;
import dev.stasis.operator.testing.Heartbeats;
import dev.stasis.operator.testing.RealCluster;
import dev.stasis.operator.testing.SetClock;
import dev.stasis.operator.testing.TestOperator;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** Agents and kubelets are fakes here; API server, scheduler and admission are real. */
@SuppressWarnings("NullAway") // made before each test; what is not there fails the test
@OnTestCluster(definitions = true)
abstract class OnApiServer {

  /** Each wait is for a few writes of a machine that may be busy. */
  static final Duration LONG = Duration.ofSeconds(300);

  static @Nullable RealCluster cluster;

  KubernetesClient client;
  FakeKubelet kubelet;
  MovingAgents agents;
  TestOperator operator;
  SetClock clock;
  Heartbeats heartbeats;
  String namespace;

  /** Names of the two nodes. */
  String first;

  String second;

  /** Name of the default store, a disk of each node. */
  String local;

  /** Name of a store that both nodes reach; a test creates it. */
  String shared;

  @BeforeAll
  static void find() {
    cluster = RealCluster.fromEnvironment();
  }

  @AfterAll
  static void leave() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @BeforeEach
  void start() {
    client = cluster.client();
    clock = new SetClock();
    heartbeats = new Heartbeats(client, clock);
    kubelet = new FakeKubelet(client);
    agents = new MovingAgents(client, cluster.config().namespace());
    namespace = cluster.namespace(Map.of());
    first = RealCluster.name("gpu-1", namespace);
    second = RealCluster.name("gpu-2", namespace);
    local = RealCluster.name("local", namespace);
    shared = RealCluster.name("shared", namespace);
    node(first);
    node(second);
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.getMetadata().setName(local);
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setIsDefault(true);
    store.getSpec().setLocation(StoreLocation.of(new NodeLocal("/var/lib/stasis")));
    client.resource(store).create();
    startOperator();
    client.resource(trainer()).create();
    client
        .pods()
        .inNamespace(namespace)
        .withName("trainer")
        .waitUntilCondition(
            pod -> pod != null && "Running".equals(pod.getStatus().getPhase()),
            LONG.toSeconds(),
            TimeUnit.SECONDS);
    agents.running.add("trainer");
  }

  void startOperator() {
    operator =
        TestOperator.start(
            cluster,
            clock,
            List.of(
                MigrationParts::reconciler,
                NodeParts::reconciler,
                CheckpointParts::reconciler,
                RestoreParts::reconciler));
  }

  @AfterEach
  void stop() {
    try {
      for (OperationType type : OperationType.values()) {
        agents.goOn(type);
      }
      client.resources(GpuMigration.class).inNamespace(namespace).delete();
      await()
          .atMost(LONG)
          .until(
              () ->
                  client
                      .resources(GpuMigration.class)
                      .inNamespace(namespace)
                      .list()
                      .getItems()
                      .isEmpty());
    } finally {
      try {
        operator.close();
      } finally {
        tidy();
      }
    }
  }

  private void tidy() {
    heartbeats.close();
    try {
      client.namespaces().withName(namespace).delete();
      for (String name : List.of(first, second)) {
        client.resources(GpuNode.class).withName(name).delete();
      }
      for (String name : List.of(local, shared)) {
        client.resources(GpuCheckpointStore.class).withName(name).delete();
      }
      client.pods().inNamespace(namespace).withGracePeriod(0).delete();
    } finally {
      kubelet.close();
      agents.close();
    }
  }

  void migrate(String name, Consumer<GpuMigration> change) {
    GpuMigration migration = new GpuMigration();
    migration.getMetadata().setNamespace(namespace);
    migration.getMetadata().setName(name);
    migration.setSpec(new GpuMigrationSpec());
    migration.getSpec().setPodRef(PodReference.of("trainer"));
    change.accept(migration);
    client.resource(migration).create();
  }

  void cancel(String name) {
    client
        .resources(GpuMigration.class)
        .inNamespace(namespace)
        .withName(name)
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"options\":{\"cancel\":true}}}");
  }

  /** The operator's clock goes on by so much, and the agents have spoken all the time. */
  void later(Duration further) {
    heartbeats.speak(further);
    clock.ahead(further);
  }

  GpuMigration until(String name, Predicate<GpuMigration> wanted) {
    return client
        .resources(GpuMigration.class)
        .inNamespace(namespace)
        .withName(name)
        .waitUntilCondition(
            it -> it != null && it.getStatus() != null && wanted.test(it),
            LONG.toSeconds(),
            TimeUnit.SECONDS);
  }

  static @Nullable MigrationPhase phase(GpuMigration migration) {
    return migration.getStatus().getPhase();
  }

  static boolean isFinal(GpuMigration migration) {
    return phase(migration) != null && phase(migration).isFinal();
  }

  static Condition condition(GpuMigration migration, String type) {
    return Conditions.of(migration.getStatus()).list().stream()
        .filter(condition -> condition.type().equals(type))
        .findFirst()
        .orElseGet(
            () -> new Condition(type, ConditionValue.UNKNOWN, "None", "", Instant.EPOCH, 1L));
  }

  Pod pod(String name) {
    return client.pods().inNamespace(namespace).withName(name).get();
  }

  List<String> pods() {
    return client.pods().inNamespace(namespace).list().getItems().stream()
        .map(pod -> pod.getMetadata().getName())
        .toList();
  }

  /** On behalf of this test's objects: what others left behind is deleted at its own time. */
  List<GpuNodeOperation> operations() {
    return client
        .resources(GpuNodeOperation.class)
        .inNamespace(cluster.config().namespace())
        .list()
        .getItems()
        .stream()
        .filter(it -> namespace.equals(it.getSpec().getRequester().namespace()))
        .toList();
  }

  private void node(String name) {
    node(name, 1);
  }

  void node(String name, int gpus) {
    kubelet.node(name, gpus);
    heartbeats.agent(name);
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    GpuNode node = new GpuNode();
    node.getMetadata().setName(name);
    NodeHost host = new NodeHost();
    host.setDriver("580.105.08");
    host.setFingerprint("cpu.architecture=amd64\ncriu.version=4.2.1\n");
    GpuNodeStatus status = new GpuNodeStatus();
    status.setHost(host);
    status.setGpus(
        List.of(
            new NodeGpu(
                "GPU-" + name,
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
    status.setAgent(new AgentIdentity("0.1.0", null, now, now, "10.0.0.1:8743", "key of " + name));
    status.setCapabilities(List.copyOf(EnumSet.complementOf(EnumSet.of(Capability.UNRECOGNIZED))));
    status.setStores(
        List.of(
            new NodeStore(local, true, null, 1L << 40, 1L << 40, "1.0Ti", 0L, 0),
            new NodeStore(shared, true, null, 1L << 40, 1L << 40, "1.0Ti", 0L, 0)));
    node.setStatus(status);
    cluster.with(node);
  }

  Pod trainer() {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName("trainer")
        .addToLabels("app", "train")
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("main")
        .withImage("registry.example/train:1")
        .withCommand("python3", "train.py")
        .withNewResources()
        .addToLimits("nvidia.com/gpu", new Quantity("1"))
        .addToLimits("memory", new Quantity("4Gi"))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }
}
