package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.api.model.apps.ReplicaSet;
import io.fabric8.kubernetes.api.model.apps.ReplicaSetBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What a GpuRestore costs the API server while it waits. The operator of these tests observes a
 * waiting object first after 1 s, the product after 15 s; from then on both double the wait.
 */
@SuppressWarnings("NullAway") // what is not there fails the test
class WaitingRequestsApiServerTest extends OnApiServer {

  /** With waits of 1, 1, 2, 4 and 8 s there are at most six looks in it. */
  private static final Duration OBSERVED = Duration.ofSeconds(16);

  @Test
  void oneThatWaitsForAControllerScaledToZeroAsksOnceALook() {
    ReplicaSet owner = client.resource(scaledToZero()).create();
    GpuCheckpoint checkpoint = Examples.checkpoint(namespace, "train");
    Pod owned = Examples.pod(namespace, "trainer");
    owned
        .getMetadata()
        .setOwnerReferences(
            List.of(
                new OwnerReferenceBuilder()
                    .withApiVersion("apps/v1")
                    .withKind("ReplicaSet")
                    .withName("train")
                    .withUid(owner.getMetadata().getUid())
                    .withController(true)
                    .build()));
    checkpoint.getStatus().setPodTemplate(Examples.template(owned));
    checkpoint(checkpoint);
    restore(spec -> {});
    until(it -> "OwnerLives".equals(it.getStatus().getReason()));

    assertThat(requestsWhileItWaits()).hasSizeBetween(2, 9);
  }

  @Test
  void oneThatAQuotaRefusesAsksTheLessOftenTheLongerItWaits() {
    client
        .resource(
            new ResourceQuotaBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("none")
                .endMetadata()
                .withNewSpec()
                .addToHard("pods", new Quantity("0"))
                .endSpec()
                .build())
        .create();
    await().atMost(LONG).until(this::quotaIsEnforced);
    checkpoint();
    restore(spec -> {});
    until(
        it ->
            "RefusedByCluster".equals(it.getStatus().getReason())
                && it.getStatus().getMessage().contains("exceeded quota: none"));

    // One list and one dry run a look.
    assertThat(requestsWhileItWaits()).hasSizeBetween(2, 18);
    assertThat(phase(restores().get(0))).isEqualTo(RestorePhase.PENDING);
  }

  /** The API server learns of a new quota by a watch of its own. */
  private boolean quotaIsEnforced() {
    try {
      client.resource(Examples.pod(namespace, "probe")).dryRun(true).create();
      return false;
    } catch (KubernetesClientException e) {
      return String.valueOf(e.getMessage()).contains("exceeded quota");
    }
  }

  private List<String> requestsWhileItWaits() {
    int before = operator.requests().of("/namespaces/" + namespace).size();
    Instant end = Instant.now().plus(OBSERVED);
    await().atMost(LONG).until(() -> Instant.now().isAfter(end));
    List<String> all = operator.requests().of("/namespaces/" + namespace);
    return all.subList(before, all.size());
  }

  private ReplicaSet scaledToZero() {
    return new ReplicaSetBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName("train")
        .endMetadata()
        .withNewSpec()
        .withReplicas(0)
        .withNewSelector()
        .addToMatchLabels("app", "train")
        .endSelector()
        .withNewTemplate()
        .withNewMetadata()
        .addToLabels("app", "train")
        .endMetadata()
        .withSpec(Examples.pod(namespace, "x").getSpec())
        .endTemplate()
        .endSpec()
        .build();
  }
}
