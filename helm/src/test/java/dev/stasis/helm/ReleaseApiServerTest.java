package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.InstallCommand;
import com.marcnuri.helm.Release;
import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.testing.TestCluster;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** A release from its install to its uninstall on a real API server; the test plays the kubelet. */
@TestMethodOrder(OrderAnnotation.class)
@OnTestCluster
class ReleaseApiServerTest {

  /** Seconds are usual. */
  private static final Duration LIMIT = Duration.ofSeconds(180);

  private static final String RELEASE = "stasis-" + UUID.randomUUID().toString().substring(0, 8);
  private static final String NAMESPACE = RELEASE + "-system";
  private static final Path CHART = ChartFilesTest.CHART.toAbsolutePath();

  @SuppressWarnings("NullAway.Init") // made before the first test
  private static KubernetesClient client;

  @SuppressWarnings("NullAway.Init") // set before the first test
  private static Path kubeconfig;

  private static boolean ofAnotherRelease;

  @BeforeAll
  static void begin() {
    kubeconfig = Path.of(System.getenv("KUBECONFIG"));
    client = TestCluster.connect();
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .create();
    adoptDefinitions();
  }

  /**
   * Those that were applied by hand: helm takes over only what is marked as its own. Those of
   * another release stay that one's.
   */
  private static void adoptDefinitions() {
    var definitions = client.apiextensions().v1().customResourceDefinitions();
    var ours =
        definitions.list().getItems().stream()
            .filter(one -> one.getSpec().getGroup().equals("stasis.dev"))
            .toList();
    ofAnotherRelease =
        ours.stream()
            .anyMatch(
                one ->
                    one.getMetadata().getAnnotations() != null
                        && one.getMetadata()
                            .getAnnotations()
                            .containsKey("meta.helm.sh/release-name"));
    if (ofAnotherRelease) {
      return;
    }
    ours.stream()
        .forEach(
            one ->
                beside(
                    () ->
                        definitions
                            .withName(one.getMetadata().getName())
                            .edit(
                                it ->
                                    new CustomResourceDefinitionBuilder(it)
                                        .editMetadata()
                                        .addToLabels("app.kubernetes.io/managed-by", "Helm")
                                        .addToAnnotations("meta.helm.sh/release-name", RELEASE)
                                        .addToAnnotations(
                                            "meta.helm.sh/release-namespace", NAMESPACE)
                                        .endMetadata()
                                        .build())));
  }

  @AfterAll
  static void end() {
    if (client != null) {
      Helm.uninstall(RELEASE)
          .withNamespace(NAMESPACE)
          .withKubeConfig(kubeconfig)
          .noHooks()
          .ignoreNotFound()
          .call();
      client.namespaces().withName(NAMESPACE).delete();
      client.close();
    }
  }

  @Test
  @Order(1)
  void anInstallIsCompleteAndNamesTheNextSteps() {
    Release release = settings(new Helm(CHART).install()).call();
    assertThat(release.getStatus()).isEqualTo("deployed");
    assertThat(release.getOutput())
        .contains("kubectl stasis doctor")
        .contains("kubectl stasis explain POD -n NAMESPACE");
    assertThat(client.apps().deployments().inNamespace(NAMESPACE).list().getItems()).hasSize(1);
    assertThat(client.apps().daemonSets().inNamespace(NAMESPACE).list().getItems()).hasSize(1);
  }

  private static InstallCommand settings(InstallCommand install) {
    install.withName(RELEASE).withNamespace(NAMESPACE).withKubeConfig(kubeconfig);
    values().forEach(install::set);
    return install;
  }

  private static Map<String, Object> values() {
    // Other releases share the roles and the store of the cluster. No node has the label: the test
    // plays the kubelet, also on a cluster with real nodes.
    return Map.of(
        "operator.nodeSelector.of-no-node",
        "x",
        "agent.nodeSelector.of-no-node",
        "x",
        "crds.install",
        !ofAnotherRelease,
        "image.registry",
        "registry.test",
        "rbac.aggregate",
        "false",
        "admission.enabled",
        "false",
        "defaultStore.create",
        "false");
  }

  @Test
  @Order(2)
  void anUpgradeChangesWhatWasAskedForAndKeepsTheRest() {
    var upgrade =
        new Helm(CHART)
            .upgrade()
            .withName(RELEASE)
            .withNamespace(NAMESPACE)
            .withKubeConfig(kubeconfig)
            .reuseValues()
            .set("operator.replicas", 1);
    assertThat(upgrade.call().getRevision()).isEqualTo("2");
    var operator = client.apps().deployments().inNamespace(NAMESPACE).list().getItems().get(0);
    assertThat(operator.getSpec().getReplicas()).isEqualTo(1);
    assertThat(operator.getSpec().getTemplate().getSpec().getContainers().get(0).getImage())
        .startsWith("registry.test/");
  }

  @Test
  @Order(3)
  void anUninstallThatIsRefusedLeavesTheRelease() throws Exception {
    CompletableFuture<String> uninstall = uninstall();
    ends(awaitHook(uninstall), 1);
    assertThatThrownBy(() -> uninstall.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("uninstall");
    assertThat(client.apps().deployments().inNamespace(NAMESPACE).list().getItems()).hasSize(1);
  }

  @Test
  @Order(4)
  void anUninstallLeavesTheDefinitionsAndNothingElse() throws Exception {
    CompletableFuture<String> uninstall = uninstall();
    Pod hook = awaitHook(uninstall);
    accountsHaveTheRightsTheyNeed();
    ends(hook, 0);
    uninstall.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    await()
        .atMost(LIMIT)
        .until(
            () -> client.apps().deployments().inNamespace(NAMESPACE).list().getItems().isEmpty());
    assertThat(
            client.rbac().clusterRoles().list().getItems().stream()
                .map(role -> role.getMetadata().getName()))
        .noneMatch(name -> name.startsWith(RELEASE));
    assertThat(
            client
                .apiextensions()
                .v1()
                .customResourceDefinitions()
                .withName("gpucheckpoints.stasis.dev")
                .get())
        .isNotNull();
  }

  private static CompletableFuture<String> uninstall() {
    return CompletableFuture.supplyAsync(
        () -> Helm.uninstall(RELEASE).withNamespace(NAMESPACE).withKubeConfig(kubeconfig).call());
  }

  /** The pod of the hook's job; one that has not ended. */
  private static Pod awaitHook(CompletableFuture<String> uninstall) {
    return await()
        .atMost(LIMIT)
        .until(
            () ->
                client
                    .pods()
                    .inNamespace(NAMESPACE)
                    .withLabel("app.kubernetes.io/component", "uninstall")
                    .list()
                    .getItems()
                    .stream()
                    .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                    .filter(pod -> "Pending".equals(pod.getStatus().getPhase()))
                    .findFirst()
                    .orElse(null),
            pod -> pod != null || uninstall.isDone());
  }

  /** By the rights of the hook's own service account. */
  private static void accountsHaveTheRightsTheyNeed() {
    String user = "system:serviceaccount:" + NAMESPACE + ":" + RELEASE + "-uninstall";
    var config = new ConfigBuilder(client.getConfiguration()).withImpersonateUsername(user).build();
    try (KubernetesClient hook = new KubernetesClientBuilder().withConfig(config).build()) {
      for (String kind : List.of("gpucheckpoints", "gpunodes", "gpunodeoperations")) {
        assertThat(hook.raw("/apis/stasis.dev/v1beta1/" + kind)).contains("items");
      }
      assertThat(hook.nodes().withName("removed").get()).isNull();
      String operator = RELEASE + "-operator";
      var deployments = hook.apps().deployments().inNamespace(NAMESPACE);
      assertThat(deployments.withName(operator).get()).isNotNull();
      deployments
          .withName(operator)
          .subresource("scale")
          .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"replicas\":1}}");
      assertThat(hook.pods().inNamespace(NAMESPACE).list().getItems()).isNotEmpty();
      assertThatThrownBy(() -> deployments.withName(RELEASE + "-other").get())
          .isInstanceOf(KubernetesClientException.class);
      assertThatThrownBy(() -> hook.secrets().inNamespace(NAMESPACE).list())
          .isInstanceOf(KubernetesClientException.class);
    }
  }

  /** As the kubelet would write it. */
  private static void ends(Pod pod, int exitCode) {
    beside(() -> end(pod, exitCode));
  }

  /** Others write there too, as the scheduler does: then it is written once more. */
  private static void beside(Runnable write) {
    await()
        .atMost(LIMIT)
        .ignoreExceptionsMatching(
            e ->
                e instanceof KubernetesClientException refused
                    && refused.getCode() == HttpURLConnection.HTTP_CONFLICT)
        .until(
            () -> {
              write.run();
              return true;
            });
  }

  private static void end(Pod pod, int exitCode) {
    client
        .pods()
        .inNamespace(NAMESPACE)
        .withName(pod.getMetadata().getName())
        .subresource("status")
        .edit(
            it -> {
              it.getStatus().setPhase(exitCode == 0 ? "Succeeded" : "Failed");
              it.getStatus()
                  .setContainerStatuses(
                      List.of(
                          new ContainerStatusBuilder()
                              .withName("uninstall")
                              .withImage("registry.test/operator")
                              .withImageID("")
                              .withReady(false)
                              .withRestartCount(0)
                              .withNewState()
                              .withNewTerminated()
                              .withExitCode(exitCode)
                              .endTerminated()
                              .endState()
                              .build()));
              return it;
            });
  }
}
