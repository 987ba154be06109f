package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.event.ClusterEvents;
import dev.stasis.operator.eviction.EvictionParts;
import dev.stasis.operator.eviction.EvictionSettings;
import dev.stasis.operator.pod.ClusterPodWrites;
import dev.stasis.operator.pod.PodWrites;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The eviction webhook, asked by a real API server; the agent is a stand-in. */
@SuppressWarnings("NullAway") // what is not there fails the test
@OnTestCluster(definitions = true)
class ProtectedPodApiServerTest {

  private static final Duration LONG = Duration.ofSeconds(120);

  /** An API server waits 30 s for the webhook, and has work of its own. */
  private static final int REQUEST_MILLISECONDS = 60_000;

  private SingleNodeCluster cluster;
  private AgentStandIn agent;
  private TestWebhooks webhooks;
  private KubernetesClient impatient;
  private PodWrites user;
  private Pod pod;

  @BeforeEach
  void start() {
    cluster = SingleNodeCluster.create();
    agent = new AgentStandIn(cluster);
    agent.until(AgentStandIn.Limit.FROZEN);
    impatient =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder()
                    .withRequestTimeout(REQUEST_MILLISECONDS)
                    .withRequestRetryBackoffLimit(0)
                    .build())
            .build();
    user = new ClusterPodWrites(impatient, Clock.systemUTC());
    cluster
        .client
        .resources(GpuCheckpointStore.class)
        .withName(cluster.store)
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"default\":true}}");
  }

  @AfterEach
  void stop() {
    if (cluster == null) {
      return;
    }
    if (webhooks != null) {
      webhooks.close();
    }
    agent.close();
    cluster.client.pods().inNamespace(cluster.namespace).withGracePeriod(0).delete();
    cluster.close();
    impatient.close();
  }

  private void operator(Duration deadline, Duration givenUpAfter) {
    webhooks = new TestWebhooks(cluster.client, cluster.settings, cluster.namespace);
    AtomicReference<Informers> seen = new AtomicReference<>();
    cluster.startOperator(
        List.of(
            made -> {
              Informers watches = made.informers();
              seen.set(watches);
              EvictionParts parts = parts(watches, new EvictionSettings(deadline, givenUpAfter));
              webhooks.start(watches, parts.hook(), "pods/eviction");
              return parts.reconciler();
            }));
    pod = protectedPod();
    webhooks.awaitAsked();
    await()
        .atMost(LONG)
        .until(
            () ->
                seen.get()
                    .pod(cluster.namespace, "trainer")
                    .filter(it -> it.getMetadata().getLabels().containsKey(Api.PROTECT_LABEL))
                    .isPresent());
  }

  private EvictionParts parts(Informers watches, EvictionSettings settings) {
    return new EvictionParts(
        cluster.client,
        watches,
        new ClusterPodWrites(cluster.client, Clock.systemUTC()),
        new ClusterEvents(cluster.client, Clock.systemUTC()),
        Clock.systemUTC(),
        settings,
        cluster.settings);
  }

  private Pod protectedPod() {
    cluster.pod("trainer");
    return cluster
        .client
        .pods()
        .inNamespace(cluster.namespace)
        .withName("trainer")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"labels\":{\"%s\":\"true\"}}}".formatted(Api.PROTECT_LABEL));
  }

  /** What the API server says to an eviction; empty: it is accepted. No user waits as we do. */
  private Optional<String> evict() {
    return new ClusterPodWrites(impatient, Clock.systemUTC()).evict(pod, false)
            instanceof PodWrites.Refused refused
        ? Optional.of(refused.sentence())
        : Optional.empty();
  }

  private @Nullable Pod podNow() {
    return cluster.client.pods().inNamespace(cluster.namespace).withName("trainer").get();
  }

  private List<GpuCheckpoint> checkpoints() {
    return cluster
        .client
        .resources(GpuCheckpoint.class)
        .inNamespace(cluster.namespace)
        .list()
        .getItems();
  }

  private List<GpuRestore> restores() {
    return cluster
        .client
        .resources(GpuRestore.class)
        .inNamespace(cluster.namespace)
        .list()
        .getItems();
  }

  private @Nullable CheckpointPhase phase() {
    GpuCheckpointStatus status = checkpoints().get(0).getStatus();
    return status == null ? null : status.getPhase();
  }

  private List<PodDisruptionBudget> budgets() {
    return cluster
        .client
        .policy()
        .v1()
        .podDisruptionBudget()
        .inNamespace(cluster.namespace)
        .list()
        .getItems();
  }

  private boolean isHeldBack() {
    return evict().filter(said -> said.contains("GpuCheckpoint evict-trainer-")).isPresent();
  }

  @Test
  void onlyAReviewWithTheSecretPathFreezesAPod() {
    operator(Duration.ofMinutes(5), Duration.ofMinutes(1));
    String review =
        """
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
         "request": {"uid": "705ab4f5", "name": "trainer", "namespace": "%s",
                     "operation": "CREATE", "object": {"apiVersion": "policy/v1", "kind": "Eviction",
                                                       "metadata": {"name": "trainer"}}}}
        """
            .formatted(cluster.namespace);
    assertThat(webhooks.post("/evict", review)).isEqualTo(404);
    assertThat(webhooks.post("/" + "0".repeat(64) + "/evict", review)).isEqualTo(404);
    assertThat(checkpoints()).isEmpty();

    assertThat(webhooks.path("evict")).matches("/[0-9a-f]{64}/evict");
    assertThat(webhooks.post(webhooks.path("evict"), review)).isEqualTo(200);
    assertThat(checkpoints()).hasSize(1);
  }

  @Test
  void aUsersGpuCheckpointOfTheNameIsNotInTheWay() {
    operator(Duration.ofMinutes(10), Duration.ofMinutes(1));
    String base = "evict-trainer-" + pod.getMetadata().getUid().substring(0, 8);
    GpuCheckpoint users = new GpuCheckpoint();
    users.getMetadata().setNamespace(cluster.namespace);
    users.getMetadata().setName(base + "-1");
    users.setSpec(new GpuCheckpointSpec());
    users.getSpec().setPodRef(PodReference.of("another"));
    cluster.client.resource(users).create();

    await().atMost(LONG).until(this::isHeldBack);

    GpuCheckpoint saves =
        checkpoints().stream()
            .filter(it -> it.getSpec().podName().equals("trainer"))
            .findFirst()
            .orElseThrow();
    assertThat(saves.getMetadata().getName()).matches(base + "-[0-9a-f]{6}-1");
    // A user may delete the GpuCheckpoint; since when it is asked for stays on the pod.
    assertThat(podNow().getMetadata().getAnnotations())
        .containsEntry(
            Api.EVICT_SINCE_ANNOTATION,
            saves.getMetadata().getAnnotations().get(Api.EVICT_SINCE_ANNOTATION));
  }

  @Test
  void aProtectedPodIsSavedBeforeItIsEvictedAndComesBack() {
    operator(Duration.ofMinutes(10), Duration.ofMinutes(1));
    await().atMost(LONG).until(this::isHeldBack);
    assertThat(checkpoints()).hasSize(1);
    assertThat(budgets()).hasSize(1);
    assertThat(podNow().getMetadata().getDeletionTimestamp()).isNull();

    agent.until(AgentStandIn.Limit.DONE);
    await().atMost(LONG).pollInterval(Duration.ofSeconds(1)).until(() -> evict().isEmpty());
    assertThat(podNow().getMetadata().getDeletionTimestamp()).isNotNull();
    cluster.client.pods().inNamespace(cluster.namespace).withGracePeriod(0).delete();

    await().atMost(LONG).until(() -> restores().size() == 1);
    assertThat(restores().get(0).getSpec().getOptions().getTtlSecondsAfterFinished())
        .isEqualTo(3600);
    assertThat(phase()).isEqualTo(CheckpointPhase.READY);
    await().atMost(LONG).until(() -> budgets().isEmpty());
  }

  @Test
  void anEvictionThatIsGivenUpLeavesThePodRunning() {
    operator(Duration.ofMinutes(10), Duration.ofSeconds(3));
    await().atMost(LONG).until(this::isHeldBack);
    agent.until(AgentStandIn.Limit.DONE);

    await().atMost(LONG).until(() -> phase() == CheckpointPhase.CANCELLED);
    await().atMost(LONG).until(() -> budgets().isEmpty());
    assertThat(podNow().getMetadata().getDeletionTimestamp()).isNull();
    await()
        .atMost(LONG)
        .until(() -> !podNow().getMetadata().getLabels().containsKey(Api.EVICTION_LABEL));
  }

  @Test
  void afterItsDeadlineTheEvictionWins() {
    operator(Duration.ofSeconds(5), Duration.ofMinutes(1));
    await().atMost(LONG).until(this::isHeldBack);
    await().atMost(LONG).pollInterval(Duration.ofSeconds(1)).until(() -> evict().isEmpty());
    assertThat(podNow().getMetadata().getDeletionTimestamp()).isNotNull();
    assertThat(budgets()).isEmpty();
  }

  @Test
  void aDryRunChangesNothing() {
    operator(Duration.ofMinutes(10), Duration.ofMinutes(1));
    assertThat(user.evict(pod, true)).isInstanceOf(PodWrites.Accepted.class);
    assertThat(checkpoints()).isEmpty();
    assertThat(budgets()).isEmpty();
    assertThat(podNow().getMetadata().getDeletionTimestamp()).isNull();
  }

  @Test
  void nothingIsFrozenWhileABudgetWouldRefuseAnyway() {
    operator(Duration.ofMinutes(10), Duration.ofMinutes(1));
    cluster
        .client
        .resource(
            new PodDisruptionBudgetBuilder()
                .withNewMetadata()
                .withNamespace(cluster.namespace)
                .withName("users")
                .endMetadata()
                .withNewSpec()
                .withMinAvailable(new IntOrString(1))
                .withNewSelector()
                .addToMatchLabels(Api.PROTECT_LABEL, "true")
                .endSelector()
                .endSpec()
                .build())
        .create();

    await()
        .atMost(LONG)
        .until(
            () -> evict().filter(said -> said.contains("PodDisruptionBudget users")).isPresent());
    assertThat(checkpoints()).isEmpty();
    assertThat(budgets()).hasSize(1);
  }

  @Test
  void anEvictionIsHeldUntilItsDeadlineWhileAQuotaRefusesTheCheckpoint() {
    String quota =
        """
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "no-checkpoints"},
         "spec": {"hard": {"count/gpucheckpoints.stasis.dev": "0"}}}
        """;
    cluster.client.resource(quota).inNamespace(cluster.namespace).create();
    operator(Duration.ofSeconds(20), Duration.ofMinutes(1));
    await()
        .atMost(LONG)
        .until(() -> evict().filter(said -> said.contains("no-checkpoints")).isPresent());

    assertThat(podNow().getMetadata().getDeletionTimestamp()).isNull();
    assertThat(checkpoints()).isEmpty();
    assertThat(cluster.client.v1().events().inNamespace(cluster.namespace).list().getItems())
        .filteredOn(event -> "CheckpointRefused".equals(event.getReason()))
        .singleElement()
        .satisfies(event -> assertThat(event.getMessage()).contains("no-checkpoints"));

    await().atMost(LONG).pollInterval(Duration.ofSeconds(1)).until(() -> evict().isEmpty());
    assertThat(podNow().getMetadata().getDeletionTimestamp()).isNotNull();
  }

  @Test
  void withoutAnOperatorThePodIsEvictedLikeAnyOther() {
    operator(Duration.ofMinutes(10), Duration.ofMinutes(1));
    webhooks.stop();
    assertThat(evict()).isEmpty();
    assertThat(podNow().getMetadata().getDeletionTimestamp()).isNotNull();
  }
}
