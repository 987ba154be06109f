package dev.stasis.operator.restore;

import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.node.NodeParts;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.testing.FakeAgent;
import dev.stasis.operator.testing.FakeKubelet;
import dev.stasis.operator.testing.Heartbeats;
import dev.stasis.operator.testing.RealCluster;
import dev.stasis.operator.testing.TestOperator;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
  FakeAgent agent;
  Heartbeats heartbeats;
  TestOperator operator;
  String namespace;

  /** Name of the node that each test begins with. */
  String first;

  /** Name of a node that a test may add. */
  String second;

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
    RealCluster real = Objects.requireNonNull(cluster);
    client = real.client();
    kubelet = new FakeKubelet(client);
    heartbeats = new Heartbeats(client, Clock.systemUTC());
    agent = new FakeAgent(client, real.config().namespace());
    namespace = real.namespace(Map.of());
    first = RealCluster.name("gpu-1", namespace);
    second = RealCluster.name("gpu-2", namespace);
    node(first);
    startOperator();
  }

  @AfterEach
  void stop() {
    try {
      client.resources(GpuRestore.class).inNamespace(namespace).delete();
      await().atMost(LONG).until(() -> restores().isEmpty());
    } finally {
      if (operator != null) {
        operator.close();
      }
      tidy();
    }
  }

  private void tidy() {
    heartbeats.close();
    client.namespaces().withName(namespace).delete();
    List.of(first, second).forEach(name -> client.resources(GpuNode.class).withName(name).delete());
    client.pods().inNamespace(namespace).withGracePeriod(0).delete();
    kubelet.close();
    agent.close();
  }

  void startOperator() {
    operator =
        TestOperator.start(
            Objects.requireNonNull(cluster),
            Clock.systemUTC(),
            List.of(RestoreParts::reconciler, NodeParts::reconciler));
  }

  void node(String name) {
    kubelet.node(name, 1);
    heartbeats.agent(name);
    Objects.requireNonNull(cluster)
        .with(Examples.gpuNode(name, Instant.now().truncatedTo(ChronoUnit.SECONDS)));
  }

  void checkpoint() {
    checkpoint(Examples.checkpoint(namespace, "train"));
  }

  void checkpoint(GpuCheckpoint checkpoint) {
    checkpoint.getMetadata().setUid(null);
    Objects.requireNonNull(cluster).with(checkpoint);
  }

  void restore(Consumer<GpuRestore> change) {
    GpuRestore restore = Examples.restore(namespace, "back", "train");
    restore.setStatus(null);
    change.accept(restore);
    client.resource(restore).create();
  }

  /** As a user does with kubectl patch: it never conflicts with what the operator writes. */
  void cancel() {
    client
        .resources(GpuRestore.class)
        .inNamespace(namespace)
        .withName("back")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"options\":{\"cancel\":true}}}");
  }

  GpuRestore until(Predicate<GpuRestore> wanted) {
    return client
        .resources(GpuRestore.class)
        .inNamespace(namespace)
        .withName("back")
        .waitUntilCondition(
            it -> it != null && it.getStatus() != null && wanted.test(it),
            LONG.toSeconds(),
            TimeUnit.SECONDS);
  }

  static @Nullable RestorePhase phase(GpuRestore restore) {
    return restore.getStatus().getPhase();
  }

  static Condition condition(GpuRestore restore, String type) {
    return Conditions.of(restore.getStatus()).list().stream()
        .filter(condition -> condition.type().equals(type))
        .findFirst()
        .orElseGet(
            () -> new Condition(type, ConditionValue.UNKNOWN, "None", "", Instant.EPOCH, 1L));
  }

  List<GpuRestore> restores() {
    return client.resources(GpuRestore.class).inNamespace(namespace).list().getItems();
  }

  /** On behalf of this test's objects: what others left behind is deleted at its own time. */
  List<GpuNodeOperation> operations() {
    return client
        .resources(GpuNodeOperation.class)
        .inNamespace(Objects.requireNonNull(cluster).config().namespace())
        .list()
        .getItems()
        .stream()
        .filter(it -> namespace.equals(it.getSpec().getRequester().namespace()))
        .toList();
  }

  List<Pod> targets() {
    return client
        .pods()
        .inNamespace(namespace)
        .withLabel(Api.OPERATION_UID_LABEL)
        .list()
        .getItems();
  }

  Pod target() {
    return targets().get(0);
  }

  static @Nullable Quantity memory(Pod pod) {
    return pod.getSpec().getContainers().get(0).getResources().getLimits().get("memory");
  }

  static @Nullable String gate(Pod pod) {
    return pod.getStatus().getConditions().stream()
        .filter(condition -> condition.getType().equals(Api.RESTORED_GATE))
        .map(PodCondition::getStatus)
        .findFirst()
        .orElse(null);
  }
}
