package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.testing.OnTestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.authentication.SelfSubjectReviewBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.CronJobBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Of the keys below stasis.dev users set only those that are meant for them. */
@OnTestCluster
class KeysPolicyTest {
  @SuppressWarnings("NullAway.Init") // before the first test
  private static Installed stasis;

  @SuppressWarnings("NullAway.Init")
  private static KubernetesClient operator;

  @BeforeAll
  static void installTheChart() {
    stasis = Installed.fromEnvironment(Map.of("admission.createdBy", "Never"));
    String name = "system:serviceaccount:" + stasis.namespace + ":" + stasis.release + "-operator";
    operator = stasis.client(config -> config.withImpersonateUsername(name));
    stasis.awaitRight(operator, "create", "", "pods", null);
    // Its controller makes it some moments after the namespace; a pod before it is refused.
    stasis.make(
        new ServiceAccountBuilder()
            .withNewMetadata()
            .withNamespace(stasis.namespace)
            .withName("pods")
            .endMetadata()
            .build());
  }

  @AfterAll
  static void remove() {
    if (stasis != null) {
      stasis.close();
    }
  }

  @Test
  void usersProtectTheirPods() {
    Pod pod = pod("protected");
    pod.getMetadata().setLabels(Map.of("stasis.dev/protect", "enabled", "app", "trainer"));
    pod.getMetadata().setAnnotations(Map.of("stasis.dev/evict-deadline", "10m"));

    allowed(pod);
  }

  @Test
  void usersHaveTheirPodsPrepared() {
    Pod pod = pod("prepared");
    pod.getMetadata()
        .setLabels(Map.of("stasis.dev/prepare", "ranks", "stasis.dev/data-path", "direct"));
    // As the operator's webhook leaves it, in the user's own request.
    pod.getMetadata().setAnnotations(Map.of("stasis.dev/prepared", "{}"));

    allowed(pod);
  }

  @Test
  void onlyInTheNamespaceOfTheReleasePodsAreLabelledAsMountsOfAStore() {
    Pod mount = pod("mount");
    mount.getMetadata().setLabels(Map.of("stasis.dev/store", "claim"));
    allowed(mount);

    mount.getMetadata().setNamespace("default");
    mount.getSpec().setServiceAccountName("default");
    refused(mount, "labels below stasis.dev", "stasis.dev/store");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "stasis.dev/operation-uid",
        "stasis.dev/checkpoint",
        "stasis.dev/eviction",
        "stasis.dev/node",
        "stasis.dev/anything",
        "topology.stasis.dev/gpus-1"
      })
  void usersCannotSetAnotherLabel(String key) {
    // Some labels count with any value.
    for (String value : List.of("x", "")) {
      Pod pod = pod("labelled");
      pod.getMetadata().setLabels(Map.of(key, value));
      refused(pod, "labels below stasis.dev", key);

      GenericKubernetesResource checkpoint = Objects.checkpoint(stasis.namespace, "labelled");
      checkpoint.getMetadata().setLabels(Map.of(key, value));
      refused(checkpoint, key);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"stasis.dev/restored-from", "stasis.dev/created-by", "stasis.dev/x"})
  void usersCannotSetAnotherAnnotation(String key) {
    for (String value : List.of("x", "")) {
      Pod pod = pod("annotated");
      pod.getMetadata().setAnnotations(Map.of(key, value));
      refused(pod, "annotations below stasis.dev", key);
    }
  }

  @Test
  void aUserCannotNameAnotherCreator() {
    GenericKubernetesResource one = Objects.checkpoint(stasis.namespace, "truth");
    one.getMetadata().setAnnotations(Map.of("stasis.dev/created-by", "somebody-else"));
    refused(one, "created-by");

    String me =
        stasis
            .admin
            .resource(new SelfSubjectReviewBuilder().build())
            .create()
            .getStatus()
            .getUserInfo()
            .getUsername();
    one.getMetadata().setAnnotations(Map.of("stasis.dev/created-by", me));
    allowed(one);
  }

  @Test
  void theCreatorCannotBeErasedLater() {
    GenericKubernetesResource made =
        stasis.admin.resource(Objects.checkpoint(stasis.namespace, "erased")).create();
    try {
      assertThatThrownBy(
              () ->
                  stasis
                      .admin
                      .resource(made)
                      .edit(
                          it -> {
                            it.getMetadata().setAnnotations(Map.of("stasis.dev/created-by", ""));
                            return it;
                          }))
          .hasMessageContaining("created-by");
    } finally {
      stasis.admin.resource(made).delete();
    }
  }

  @Test
  void usersCannotChangeKeysOfTheOperator() {
    Pod target = pod("target");
    // The scheduler has nothing to write there meanwhile.
    target.getSpec().setAutomountServiceAccountToken(false);
    target.getSpec().setSchedulingGates(List.of(new PodSchedulingGate("test/stays")));
    target.getMetadata().setLabels(Map.of("stasis.dev/operation-uid", "u1", "app", "trainer"));
    Pod made = operator.resource(target).create();
    try {
      Pod relabelled = edit("app", "other");
      assertThat(relabelled.getMetadata().getLabels())
          .containsEntry("stasis.dev/operation-uid", "u1");
      assertThatThrownBy(() -> edit("stasis.dev/operation-uid", "u2"))
          .hasMessageContaining("operation-uid");
      assertThatThrownBy(() -> edit("stasis.dev/operation-uid", null))
          .hasMessageContaining("operation-uid");
    } finally {
      stasis.admin.resource(made).delete();
    }
  }

  @Test
  void podTemplatesAreCheckedToo() {
    Deployment deployment =
        new DeploymentBuilder()
            .withNewMetadata()
            .withNamespace(stasis.namespace)
            .withName("serving")
            .endMetadata()
            .withNewSpec()
            .withReplicas(0)
            .withNewSelector()
            .addToMatchLabels("app", "serving")
            .endSelector()
            .withNewTemplate()
            .withNewMetadata()
            .addToLabels("app", "serving")
            .addToLabels("stasis.dev/protect", "enabled")
            .endMetadata()
            .withSpec(pod("any").getSpec())
            .endTemplate()
            .endSpec()
            .build();
    allowed(deployment);

    deployment.getSpec().getTemplate().getMetadata().getLabels().put("stasis.dev/checkpoint", "x");
    refused(deployment, "stasis.dev/checkpoint");
    // The cluster's own workloads are its administrator's.
    deployment.getMetadata().setNamespace("kube-system");
    allowed(deployment);

    refused(
        new CronJobBuilder()
            .withNewMetadata()
            .withNamespace(stasis.namespace)
            .withName("nightly")
            .endMetadata()
            .withNewSpec()
            .withSchedule("0 0 * * *")
            .withNewJobTemplate()
            .withNewSpec()
            .withNewTemplate()
            .withNewMetadata()
            .addToAnnotations("stasis.dev/restored-from", "ml/train-1")
            .endMetadata()
            .withSpec(pod("any").edit().editSpec().withRestartPolicy("Never").endSpec().buildSpec())
            .endTemplate()
            .endSpec()
            .endJobTemplate()
            .endSpec()
            .build(),
        "stasis.dev/restored-from");
  }

  private static Pod edit(String key, @Nullable String value) {
    return stasis
        .admin
        .pods()
        .inNamespace(stasis.namespace)
        .withName("target")
        .edit(pod -> labelled(pod, key, value));
  }

  private static Pod labelled(Pod pod, String key, @Nullable String value) {
    Map<String, String> labels = new HashMap<>(pod.getMetadata().getLabels());
    if (value == null) {
      labels.remove(key);
    } else {
      labels.put(key, value);
    }
    pod.getMetadata().setLabels(labels);
    return pod;
  }

  private static Pod pod(String name) {
    Pod pod = Objects.pod(stasis.namespace, name);
    pod.getSpec().setServiceAccountName("pods");
    return pod;
  }

  private static void allowed(HasMetadata one) {
    stasis.admin.resource(one).dryRun().create();
  }

  private static void refused(HasMetadata one, String... words) {
    assertThatThrownBy(() -> stasis.admin.resource(one).dryRun().create())
        .isInstanceOf(KubernetesClientException.class)
        .message()
        .contains(words);
  }
}
