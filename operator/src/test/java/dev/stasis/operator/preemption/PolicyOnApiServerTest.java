package dev.stasis.operator.preemption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.policy.GpuPreemptionPolicySpec;
import dev.stasis.api.v1beta1.policy.Preemptors;
import dev.stasis.api.v1beta1.policy.Victims;
import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.request.ClusterRequestWrites;
import dev.stasis.operator.testing.FakeKubelet;
import dev.stasis.operator.testing.Heartbeats;
import dev.stasis.operator.testing.RealCluster;
import dev.stasis.operator.testing.TestOperator;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClassBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway") // what is not there fails the test
@OnTestCluster(definitions = true)
class PolicyOnApiServerTest {

  /** Each wait is for a few writes of a machine that may be busy. */
  private static final Duration LONG = Duration.ofSeconds(120);

  private KubernetesClient client;
  private String namespace;
  private String node;

  @Test
  void theSchedulerPlacesThePreemptorOnTheFreedNode() {
    try (RealCluster cluster = RealCluster.fromEnvironment();
        FakeKubelet kubelet = new FakeKubelet(cluster.client());
        Heartbeats words = new Heartbeats(cluster.client(), Clock.systemUTC());
        TestOperator operator =
            TestOperator.start(cluster, Clock.systemUTC(), List.of(PolicyParts::reconciler))) {
      assertThat(operator).isNotNull();
      client = cluster.client();
      namespace = cluster.namespace(Map.of());
      node = RealCluster.name("gpu-1", namespace);
      kubelet.node(node, 1);
      words.agent(node);
      agent(cluster);
      priorityClass("low", 10, "Never");
      priorityClass("high", 1000, "Never");
      pod("batch", "low");
      until(() -> "Running".equals(get("batch").getStatus().getPhase()));
      pod("third", "low");
      policy(false);
      pod("urgent", "high");

      until(() -> checkpoints().size() == 1 && restores().size() == 1);
      GpuCheckpoint evict = checkpoints().get(0);
      assertThat(evict.getSpec().podName()).isEqualTo("batch");
      assertThat(evict.getSpec().getAfterCheckpoint()).isEqualTo(AfterCheckpoint.EVICT);
      assertThat(evict.getMetadata().getLabels()).containsEntry(Api.POLICY_LABEL, namespace);
      assertThat(restores().get(0).getSpec().checkpointName())
          .isEqualTo(evict.getMetadata().getName());
      assertThat(get("urgent").getStatus().getNominatedNodeName()).isEqualTo(node);

      client.pods().inNamespace(namespace).withName("batch").delete();
      until(() -> node.equals(get("urgent").getSpec().getNodeName()));
      assertThat(get("third").getSpec().getNodeName()).isNull();
      until(() -> reason().equals("PreemptorPlaced"));
      // Too late, which is nobody's mistake.
      var writes = new ClusterRequestWrites(client, Clock.systemUTC());
      assertThat(writes.nominate(get("urgent"), "elsewhere")).isFalse();
    } finally {
      clear();
    }
  }

  @Test
  void theSchedulerDeletesNoPodThatAPolicyCouldPreempt() {
    AtomicReference<Informers> watches = new AtomicReference<>();
    try (RealCluster cluster = RealCluster.fromEnvironment();
        FakeKubelet kubelet = new FakeKubelet(cluster.client());
        Heartbeats words = new Heartbeats(cluster.client(), Clock.systemUTC());
        TestOperator operator =
            TestOperator.start(
                cluster,
                Clock.systemUTC(),
                List.of(
                    parts -> {
                      watches.set(parts.informers());
                      return PolicyParts.reconciler(parts);
                    }))) {
      assertThat(operator).isNotNull();
      client = cluster.client();
      namespace = cluster.namespace(Map.of());
      try (TestWebhooks webhooks = new TestWebhooks(client, cluster.config(), namespace)) {
        webhooks.start(
            watches.get(), PolicyParts.hook(watches.get(), cluster.config()), "DELETE", "pods");
        webhooks.awaitAsked();
        node = RealCluster.name("gpu-1", namespace);
        kubelet.node(node, 1);
        words.agent(node);
        agent(cluster);
        priorityClass("low", 10, "Never");
        // As most are: the scheduler preempts by itself.
        priorityClass("high", 1000, "PreemptLowerPriority");
        pod("batch", "low");
        until(() -> "Running".equals(get("batch").getStatus().getPhase()));
        policy(true);
        until(
            () ->
                !client
                    .resources(GpuPreemptionPolicy.class)
                    .withName(namespace)
                    .get()
                    .getStatus()
                    .getConditions()
                    .isEmpty());
        pod("urgent", "high");

        until(() -> checkpoints().size() == 1 && restores().size() == 1);
        assertThat(checkpoints().get(0).getSpec().podName()).isEqualTo("batch");
        // It has tried, and tries again: the pod is there until it is saved.
        await().during(Duration.ofSeconds(5)).atMost(LONG).until(() -> !goes("batch"));
      }
      client.pods().inNamespace(namespace).withName("batch").delete();
      until(() -> node.equals(get("urgent").getSpec().getNodeName()));
    } finally {
      clear();
    }
  }

  private boolean goes(String name) {
    Pod pod = get(name);
    return pod == null || pod.getMetadata().getDeletionTimestamp() != null;
  }

  private void clear() {
    if (namespace != null) {
      try (RealCluster again = RealCluster.fromEnvironment()) {
        again.client().resources(GpuPreemptionPolicy.class).withName(namespace).delete();
        again.client().resources(GpuNode.class).withName(node).delete();
        for (String name : List.of("low", "high")) {
          again
              .client()
              .scheduling()
              .v1()
              .priorityClasses()
              .withName(namespace + "-" + name)
              .delete();
        }
        // There is no kubelet any more to end them, and the next test needs their node.
        again.client().pods().inNamespace(namespace).withGracePeriod(0).delete();
        again.client().namespaces().withName(namespace).delete();
      }
    }
  }

  private String reason() {
    return client
        .resources(GpuPreemptionPolicy.class)
        .withName(namespace)
        .get()
        .getStatus()
        .getLast()
        .get(0)
        .reason();
  }

  private void agent(RealCluster cluster) {
    GpuNode agent = new GpuNode();
    agent.getMetadata().setName(node);
    GpuNodeStatus status = new GpuNodeStatus();
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    status.setAgent(new AgentIdentity("0.1.0", null, now, now, null, null));
    agent.setStatus(status);
    cluster.with(agent);
  }

  private void priorityClass(String name, int value, String preemption) {
    client
        .resource(
            new PriorityClassBuilder()
                .withNewMetadata()
                .withName(namespace + "-" + name)
                .endMetadata()
                .withValue(value)
                .withPreemptionPolicy(preemption)
                .build())
        .create();
  }

  private void policy(boolean intercepts) {
    LabelSelector here =
        new LabelSelectorBuilder()
            .addToMatchLabels("kubernetes.io/metadata.name", namespace)
            .build();
    GpuPreemptionPolicy policy = new GpuPreemptionPolicy();
    policy.getMetadata().setName(namespace);
    policy.setSpec(new GpuPreemptionPolicySpec());
    policy.getSpec().setVictims(new Victims(null, here, 100));
    policy.getSpec().setPreemptors(new Preemptors(null, here, 500));
    policy.getSpec().setMinRunTime(TimeSpan.of("0s"));
    policy.getSpec().getOptions().setInterceptScheduler(intercepts);
    client.resource(policy).create();
  }

  private void pod(String name, String priority) {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withNamespace(namespace)
            .withName(name)
            .endMetadata()
            .withNewSpec()
            .withPriorityClassName(namespace + "-" + priority)
            .addNewContainer()
            .withName("main")
            .withImage("registry.example/train:1")
            .withNewResources()
            .addToLimits("nvidia.com/gpu", new Quantity("1"))
            .endResources()
            .endContainer()
            .endSpec()
            .build();
    client.resource(pod).create();
  }

  private Pod get(String name) {
    return client.pods().inNamespace(namespace).withName(name).get();
  }

  private List<GpuCheckpoint> checkpoints() {
    return client.resources(GpuCheckpoint.class).inNamespace(namespace).list().getItems();
  }

  private List<GpuRestore> restores() {
    return client.resources(GpuRestore.class).inNamespace(namespace).list().getItems();
  }

  private static void until(Callable<Boolean> wanted) {
    await().atMost(LONG).ignoreExceptionsInstanceOf(NullPointerException.class).until(wanted);
  }
}
