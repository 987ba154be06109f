package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.testing.OnTestCluster;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The operator's token is worth what the operator does, and no more. */
@OnTestCluster
class OperatorPolicyTest {

  @SuppressWarnings("NullAway.Init") // before the first test
  private static Installed stasis;

  @SuppressWarnings("NullAway.Init")
  private static KubernetesClient operator;

  @SuppressWarnings("NullAway.Init")
  private static String tenants;

  @SuppressWarnings("NullAway.Init")
  private static Node node;

  @BeforeAll
  static void installTheChart() {
    stasis = Installed.fromEnvironment(Map.of());
    tenants = stasis.release + "-ml";
    stasis.namespace(tenants);
    node =
        stasis.make(
            new NodeBuilder()
                .withNewMetadata()
                .withName(stasis.release + "-node")
                .addToLabels("zone", "a")
                .endMetadata()
                .build());
    operator =
        stasis.withToken(
            stasis
                .admin
                .serviceAccounts()
                .inNamespace(stasis.namespace)
                .withName(stasis.release + "-operator")
                .tokenRequest(new TokenRequestBuilder().withNewSpec().endSpec().build())
                .getStatus()
                .getToken());
    stasis.awaitRight(operator, "create", "", "pods", null);
    stasis.awaitRight(operator, "patch", "", "nodes", null);
    stasis.awaitRight(operator, "delete", "policy", "poddisruptionbudgets", null);
  }

  @AfterAll
  static void remove() {
    if (stasis != null) {
      stasis.close();
    }
  }

  @Test
  void theOperatorCreatesTargetsAndColdStartPods() {
    allowed(target(tenants, pod -> pod));
    allowed(
        new PodBuilder(Objects.pod(tenants, "cold"))
            .editMetadata()
            .addToLabels("stasis.dev/operation-uid", "u1")
            .endMetadata()
            .build());
  }

  @Test
  void theOperatorCreatesNoOtherPods() {
    refused(() -> dryRun(Objects.pod(tenants, "any")), "stasis.dev/operation-uid");
    refused(
        () -> dryRun(target(tenants, pod -> pod.editSpec().withInitContainers().endSpec())),
        "stasis-holder");
    refused(
        () -> dryRun(target(tenants, pod -> pod.editSpec().withHostPID(true).endSpec())),
        "no namespace of the host");
  }

  @ParameterizedTest
  @CsvSource({"kube-system", "kube-public"})
  void theOperatorMakesNoPodsOfTheCluster(String namespace) {
    refused(() -> dryRun(target(namespace, pod -> pod)), "a namespace for workloads");
  }

  /** Helm test restores a pod there. */
  @Test
  void theOperatorCreatesOnlyUnprivilegedPodsInItsOwnNamespace() {
    stasis.make(
        new io.fabric8.kubernetes.api.model.ServiceAccountBuilder()
            .withNewMetadata()
            .withNamespace(stasis.namespace)
            .withName("test")
            .endMetadata()
            .build());
    UnaryOperator<PodBuilder> harmless =
        pod ->
            pod.editSpec()
                .withServiceAccountName("test")
                .withAutomountServiceAccountToken(false)
                .endSpec();
    allowed(target(stasis.namespace, harmless));

    refused(() -> dryRun(target(stasis.namespace, pod -> pod)), "its own namespace");
    for (String account : new String[] {"-agent", "-operator"}) {
      refused(
          () ->
              dryRun(
                  target(
                      stasis.namespace,
                      pod ->
                          harmless
                              .apply(pod)
                              .editSpec()
                              .withServiceAccountName(stasis.release + account)
                              .endSpec())),
          "its own namespace");
    }
    refused(
        () ->
            dryRun(
                target(
                    stasis.namespace,
                    pod ->
                        harmless
                            .apply(pod)
                            .editSpec()
                            .addNewVolume()
                            .withName("v")
                            .withNewHostPath("/", null)
                            .endVolume()
                            .endSpec())),
        "its own namespace");
    refused(
        () ->
            dryRun(
                target(
                    stasis.namespace,
                    pod ->
                        harmless
                            .apply(pod)
                            .editSpec()
                            .editFirstContainer()
                            .withNewSecurityContext()
                            .withPrivileged(true)
                            .endSecurityContext()
                            .endContainer()
                            .endSpec())),
        "its own namespace");
  }

  @Test
  void theOperatorChangesOnlyItsOwnLabelsOfNodes() {
    patchNode("{'metadata':{'labels':{'topology.stasis.dev/gpus-1':'a'}}}");
    patchNode("{'metadata':{'labels':{'topology.stasis.dev/gpus-1':null}}}");

    refused(() -> patchNode("{'metadata':{'labels':{'zone':'b'}}}"), "zone");
    refused(() -> patchNode("{'metadata':{'labels':{'zone':null}}}"), "zone");
    refused(() -> patchNode("{'metadata':{'labels':{'a':'b'}}}"), "topology.stasis.dev/");
    refused(() -> patchNode("{'spec':{'unschedulable':true}}"), "labels only");
    refused(() -> patchNode("{'metadata':{'annotations':{'a':'b'}}}"), "labels only");
    assertThat(stasis.admin.resource(node).get().getMetadata().getLabels())
        .containsEntry("zone", "a");
  }

  @Test
  void theOperatorTouchesItsOwnBudgetsOnly() {
    PodDisruptionBudget foreign = stasis.make(budget("of-a-user", Map.of()));
    operator.resource(budget("own", Map.of("stasis.dev/eviction", "u1"))).create();
    operator.resource(budget("own", Map.of())).delete();

    refused(() -> operator.resource(budget("another", Map.of())).create(), "stasis.dev/eviction");
    refused(() -> operator.resource(foreign).delete(), "stasis.dev/eviction");
  }

  @Test
  void theOperatorHasNoRightThatItDoesNotUse() {
    refused(() -> operator.resource(Objects.migration(tenants, "mine")).create(), "cannot create");
    refused(() -> operator.resource(Objects.schedule(tenants, "mine")).create(), "cannot create");
    refused(() -> operator.secrets().inNamespace(tenants).list(), "cannot list");
  }

  private static Pod target(String namespace, UnaryOperator<PodBuilder> change) {
    PodBuilder target =
        new PodBuilder(Objects.pod(namespace, "target"))
            .editMetadata()
            .addToLabels("stasis.dev/operation-uid", "u1")
            .addToLabels("stasis.dev/checkpoint", "train-1")
            .endMetadata()
            .editSpec()
            .addNewInitContainer()
            .withName("stasis-holder")
            .withImage("registry.test/holder")
            .endInitContainer()
            .endSpec();
    return change.apply(target).build();
  }

  private static PodDisruptionBudget budget(String name, Map<String, String> labels) {
    return new PodDisruptionBudgetBuilder()
        .withNewMetadata()
        .withNamespace(tenants)
        .withName(name)
        .withLabels(labels)
        .endMetadata()
        .withNewSpec()
        .withNewMaxUnavailable(0)
        .withNewSelector()
        .addToMatchLabels("app", "trainer")
        .endSelector()
        .endSpec()
        .build();
  }

  private static void patchNode(String patch) {
    operator
        .nodes()
        .withName(node.getMetadata().getName())
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch.replace('\'', '"'));
  }

  private static void dryRun(Pod pod) {
    operator.resource(pod).dryRun().create();
  }

  private static void allowed(Pod pod) {
    assertThatCode(() -> dryRun(pod)).doesNotThrowAnyException();
  }

  private static void refused(ThrowingCallable write, String words) {
    assertThatThrownBy(write)
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining(words);
  }
}
