package dev.stasis.operator.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.testing.RealCluster;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperationsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The webhook, asked by a real API server. */
@OnTestCluster(definitions = true)
class PrepareOnApiServerTest {

  private static final Duration LONG = Duration.ofSeconds(120);

  @Test
  void newGpuPodsAreMadeRestorableWhereTheirLabelOrThatOfTheirNamespaceAsksForIt() {
    try (RealCluster cluster = RealCluster.fromEnvironment()) {
      KubernetesClient client = cluster.client();
      String namespace = cluster.namespace(Map.of());
      Informers watches = new Informers(client, cluster.config());
      String configuration = TestWebhooks.config(namespace).preparation();
      client
          .resource(
              new MutatingWebhookConfigurationBuilder()
                  .withNewMetadata()
                  .withName(configuration)
                  .endMetadata()
                  .withWebhooks(webhook(namespace))
                  .build())
          .create();
      try (TestWebhooks webhooks = new TestWebhooks(client, cluster.config(), namespace)) {
        webhooks.start(watches, new PrepareHook(watches, client, cluster.config()), "endpoints");
        Pod asking = pod(namespace, "asking", Map.of(Api.PREPARE_LABEL, "ranks"));
        // The API server reads the webhook some moments after the operator has written it.
        await().atMost(LONG).until(() -> note(client.resource(asking).dryRun().create()) != null);
        Pod made = client.resource(asking).create();
        assertThat(made.getSpec().getSecurityContext().getSeccompProfile().getType())
            .isEqualTo("RuntimeDefault");
        assertThat(made.getSpec().getContainers().get(0).getEnv())
            .extracting(one -> one.getName() + "=" + one.getValue())
            .containsExactly(
                "GODEBUG=multipathtcp=0",
                "NCCL_P2P_DISABLE=1",
                "NCCL_CUMEM_HOST_ENABLE=0",
                "NCCL_NVLS_ENABLE=0");
        assertThat(note(made)).contains("seccompProfile", "main/NCCL_NVLS_ENABLE");

        assertThat(note(client.resource(pod(namespace, "plain", Map.of())).create())).isNull();
        client
            .namespaces()
            .withName(namespace)
            .edit(
                it ->
                    new NamespaceBuilder(it)
                        .editMetadata()
                        .addToLabels(Api.PREPARE_LABEL, "true")
                        .endMetadata()
                        .build());
        Pod plain = pod(namespace, "of-the-namespace", Map.of());
        await().atMost(LONG).until(() -> note(client.resource(plain).dryRun().create()) != null);
        Pod declining = pod(namespace, "declining", Map.of(Api.PREPARE_LABEL, "false"));
        assertThat(note(client.resource(declining).create())).isNull();
      } finally {
        watches.stop();
        client
            .admissionRegistration()
            .v1()
            .mutatingWebhookConfigurations()
            .withName(configuration)
            .delete();
      }
    }
  }

  private static @Nullable String note(Pod pod) {
    Map<String, String> annotations = pod.getMetadata().getAnnotations();
    return annotations == null ? null : annotations.get(Api.PREPARED_ANNOTATION);
  }

  private static Pod pod(String namespace, String name, Map<String, String> labels) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .withLabels(labels)
        .endMetadata()
        .withNewSpec()
        // Nothing makes a service account's token here.
        .withAutomountServiceAccountToken(false)
        .addNewContainer()
        .withName("main")
        .withImage("trainer")
        .withNewResources()
        .addToLimits("nvidia.com/gpu", new Quantity("1"))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }

  private static MutatingWebhook webhook(String namespace) {
    return new MutatingWebhookBuilder()
        .withName("prepare.pod.stasis.dev")
        .withNewClientConfig()
        .withUrl("https://127.0.0.1:1/prepare")
        .endClientConfig()
        .withRules(
            new RuleWithOperationsBuilder()
                .withApiGroups("")
                .withApiVersions("v1")
                .withOperations("CREATE")
                .withResources("pods")
                .build())
        .withNewNamespaceSelector()
        .addToMatchLabels("kubernetes.io/metadata.name", namespace)
        .endNamespaceSelector()
        .withFailurePolicy("Ignore")
        .withReinvocationPolicy("IfNeeded")
        .withTimeoutSeconds(10)
        .withSideEffects("None")
        .withAdmissionReviewVersions("v1")
        .build();
  }
}
