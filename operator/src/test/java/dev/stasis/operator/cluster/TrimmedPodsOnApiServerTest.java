package dev.stasis.operator.cluster;

import static java.util.concurrent.CompletableFuture.runAsync;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.operator.testing.RealCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the watch keeps of pods, on a real API server. */
@OnTestCluster(definitions = true)
class TrimmedPodsOnApiServerTest {

  /** One more than are listed at once. */
  private static final int MANY = 501;

  /** An event is there within milliseconds; an API server under load still sends it by then. */
  private static final Duration SEEN = Duration.ofSeconds(60);

  private static final String IMAGE = "registry.example/service:1";

  @SuppressWarnings("NullAway.Init") // made before each test
  private RealCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Informers informers;

  @SuppressWarnings("NullAway.Init") // made before each test
  private String namespace;

  private final List<Changed<Pod>> told = new CopyOnWriteArrayList<>();

  @BeforeEach
  void begin() {
    cluster = RealCluster.fromEnvironment();
    namespace = cluster.namespace(Map.of());
    informers = new Informers(cluster.client(), cluster.config());
    informers.listen(
        Pod.class,
        change -> {
          if (change.subject().getMetadata().getNamespace().equals(namespace)) {
            told.add(change);
          }
        });
  }

  @AfterEach
  void end() {
    if (informers != null) {
      informers.stop();
      cluster.client().namespaces().withName(namespace).delete();
      cluster.close();
    }
  }

  @Test
  void anOrdinaryPodIsKeptInPartUntilItConcernsUs() {
    create("service", Map.of());
    create("trainer", Map.of("nvidia.com/gpu", new Quantity("1")));
    informers.start();

    assertThat(pod("trainer").getSpec().getContainers().get(0).getImage()).isEqualTo(IMAGE);
    assertThat(pod("service")).isInstanceOf(TrimmedPod.class);
    assertThat(pod("service").getSpec().getContainers().get(0).getName()).isEqualTo("main");

    change("service", "example.com/seen");
    await().atMost(SEEN).until(() -> has("service", "example.com/seen"));
    assertThat(pod("service")).isInstanceOf(TrimmedPod.class);
    await().atMost(SEEN).until(() -> told.stream().anyMatch(it -> it.before().isPresent()));
    assertThat(told)
        .filteredOn(it -> it.subject().getMetadata().getName().equals("service"))
        .isNotEmpty()
        .allSatisfy(
            it -> {
              assertThat(it.subject()).isInstanceOf(TrimmedPod.class);
              it.before().ifPresent(was -> assertThat(was).isInstanceOf(TrimmedPod.class));
            });

    change("service", "stasis.dev/protect");
    await().atMost(SEEN).until(() -> has("service", "stasis.dev/protect"));
    assertThat(pod("service").getSpec().getContainers().get(0).getImage()).isEqualTo(IMAGE);
  }

  @Test
  void theApiServerRejectsATrimmedPod() {
    create("service", Map.of());
    informers.start();
    Pod left = pod("service");

    assertThatThrownBy(() -> cluster.client().resource(left).update())
        .isInstanceOf(KubernetesClientException.class);
    Pod written = new PodBuilder(left).build();
    assertThatThrownBy(() -> cluster.client().resource(written).update())
        .isInstanceOfSatisfying(
            KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(422));
    assertThat(
            cluster
                .client()
                .pods()
                .inNamespace(namespace)
                .withName("service")
                .get()
                .getSpec()
                .getContainers()
                .get(0)
                .getImage())
        .isEqualTo(IMAGE);
  }

  @Test
  void allPodsAreSeenHoweverManyThereAre() {
    ExecutorService writers = Executors.newFixedThreadPool(8);
    try {
      List<CompletableFuture<Void>> created =
          IntStream.range(0, MANY)
              .mapToObj(i -> runAsync(() -> create("service-" + i, Map.of()), writers))
              .toList();
      created.forEach(CompletableFuture::join);
    } finally {
      writers.shutdownNow();
    }
    informers.start();

    assertThat(informers.pods(namespace)).hasSize(MANY);
  }

  private Pod pod(String name) {
    return informers.pod(namespace, name).orElseThrow();
  }

  private boolean has(String name, String label) {
    return pod(name).getMetadata().getLabels().containsKey(label);
  }

  private void change(String name, String label) {
    RealCluster.beside(
        () ->
            cluster
                .client()
                .pods()
                .inNamespace(namespace)
                .withName(name)
                .edit(
                    pod ->
                        new PodBuilder(pod)
                            .editMetadata()
                            .addToLabels(label, "yes")
                            .endMetadata()
                            .build()));
  }

  /** Held by a gate: no scheduler has to do with it. */
  private void create(String name, Map<String, Quantity> limits) {
    cluster
        .client()
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .addToLabels("app", "service")
                .endMetadata()
                .withNewSpec()
                .addNewSchedulingGate("test/stays")
                .addNewContainer()
                .withName("main")
                .withImage(IMAGE)
                .withNewResources()
                .withLimits(limits)
                .endResources()
                .endContainer()
                .endSpec()
                .build())
        .create();
  }
}
