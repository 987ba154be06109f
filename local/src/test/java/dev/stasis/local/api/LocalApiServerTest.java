package dev.stasis.local.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the stand-in does beyond keeping objects. */
class LocalApiServerTest {

  @SuppressWarnings("NullAway.Init") // made before each test
  private LocalApiServer server;

  @SuppressWarnings("NullAway.Init") // made before each test
  private KubernetesClient client;

  @BeforeEach
  void start() {
    server = new LocalApiServer();
    client = server.client();
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private Pod pod() {
    return client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName("p")
                .withNamespace("default")
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName("main")
                .withImage("i")
                .withNewResources()
                .addToLimits("memory", new Quantity("1Gi"))
                .endResources()
                .endContainer()
                .endSpec()
                .build())
        .create();
  }

  @Test
  void aNewPodHasWhatAnApiServerGivesIt() {
    Pod pod = pod();
    assertThat(pod.getMetadata().getUid()).isNotEmpty();
    assertThat(pod.getSpec().getRestartPolicy()).isEqualTo("Always");
    assertThat(pod.getSpec().getTerminationGracePeriodSeconds()).isEqualTo(30);
    assertThat(pod.getStatus().getPhase()).isEqualTo("Pending");
    assertThat(pod.getSpec().getContainers().get(0).getResources().getRequests())
        .isEqualTo(Map.of("memory", new Quantity("1Gi")));
  }

  @Test
  void aDeletedPodStaysUntilItsKubeletLetsItGo() {
    Pod pod = pod();
    client.resource(pod).withGracePeriod(7).delete();
    Pod deleted = client.resource(pod).get();
    assertThat(deleted.getMetadata().getDeletionTimestamp()).isNotEmpty();
    assertThat(deleted.getMetadata().getDeletionGracePeriodSeconds()).isEqualTo(7);
    deleted.getMetadata().setFinalizers(List.of());
    client.resource(deleted).update();
    assertThat(client.resource(pod).get()).isNull();
  }

  @Test
  void anEvictionOfAnotherPodOfThatNameIsAConflict() {
    Pod pod = pod();
    String path = "/api/v1/namespaces/default/pods/p/eviction";
    String another = "{\"deleteOptions\":{\"preconditions\":{\"uid\":\"another\"}}}";
    assertThatThrownBy(() -> client.raw(path, "POST", another))
        .isInstanceOfSatisfying(
            KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(409));
    assertThat(client.resource(pod).get().getMetadata().getDeletionTimestamp()).isNull();
    client.raw(path + "?dryRun=All", "POST", "{}");
    assertThat(client.resource(pod).get().getMetadata().getDeletionTimestamp()).isNull();
    String this_ =
        "{\"deleteOptions\":{\"preconditions\":{\"uid\":\"%s\"}}}"
            .formatted(pod.getMetadata().getUid());
    client.raw(path, "POST", this_);
    assertThat(client.resource(pod).get().getMetadata().getDeletionTimestamp()).isNotEmpty();
  }

  @Test
  void ourResourcesGetTheDefaultsOfTheirSchema() {
    GenericKubernetesResource asked =
        new GenericKubernetesResourceBuilder()
            .withApiVersion("stasis.dev/v1beta1")
            .withKind("GpuCheckpoint")
            .withNewMetadata()
            .withName("c")
            .withNamespace("default")
            .endMetadata()
            .addToAdditionalProperties("spec", Map.of("podRef", Map.of("name", "p")))
            .build();
    client.resource(asked).create();
    assertThat(
            client
                .genericKubernetesResources("stasis.dev/v1beta1", "GpuCheckpoint")
                .inNamespace("default")
                .withName("c")
                .get()
                .<String>get("spec", "afterCheckpoint"))
        .isEqualTo("Resume");
    assertThat(client.resources(GpuCheckpoint.class).inNamespace("default").list().getItems())
        .hasSize(1);
  }

  @Test
  void aDryRunChangesNothing() {
    Pod pod = pod();
    client
        .pods()
        .inNamespace("default")
        .withName("p")
        .dryRun()
        .edit(it -> new PodBuilder(it).editMetadata().addToLabels("a", "b").endMetadata().build());
    assertThat(client.resource(pod).get().getMetadata().getLabels()).isEmpty();
  }
}
