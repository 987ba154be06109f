package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.testing.OnTestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Rule 13: an agent's rights end at its node. With tokens as the kubelet hands them out. */
@OnTestCluster
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class AgentPolicyTest {
  @SuppressWarnings("NullAway.Init") // before the first test
  private static Installed stasis;

  @SuppressWarnings("NullAway.Init")
  private static KubernetesClient agent;

  @SuppressWarnings("NullAway.Init")
  private static String own;

  @SuppressWarnings("NullAway.Init")
  private static String other;

  @BeforeAll
  static void installTheChart() {
    stasis = Installed.fromEnvironment(Map.of());
    own = stasis.release + "-own";
    other = stasis.release + "-other";
    Node node = stasis.make(nodeNamed(own));
    stasis.make(nodeNamed(other));
    agent = withToken(bound(node));
    stasis.awaitRight(agent, "create", "stasis.dev", "gpunodes", null);
    stasis.awaitRight(agent, "update", "stasis.dev", "gpunodeoperations/status", null);
  }

  @AfterAll
  static void remove() {
    if (stasis != null) {
      stasis.close();
    }
  }

  @Test
  void anAgentPublishesItsOwnNode() {
    GenericKubernetesResource node = agent.resource(Objects.node(own)).create();
    try {
      node.setAdditionalProperty("status", Map.of("message", "two GPUs"));

      agent.resource(node).updateStatus();

      assertThat(message(stasis.admin.resource(node).get())).isEqualTo("two GPUs");
    } finally {
      stasis.admin.resource(node).delete();
    }
  }

  @Test
  void anAgentCannotPublishAnotherNode() {
    refused(() -> agent.resource(Objects.node(other)).create(), other, own);
  }

  @Test
  void anAgentCannotWriteTheStatusOfAnotherNode() {
    GenericKubernetesResource node = stasis.make(Objects.node(other));
    node.getMetadata().setResourceVersion(null);
    node.setAdditionalProperty("status", Map.of("message", "no GPUs"));

    refused(() -> agent.resource(node).updateStatus(), other, own);
    refused(() -> agent.resource(node).update(), other, "cannot update");
  }

  /** One node's token must not show the pods, and the environment, of all the others. */
  @Test
  void anAgentListsNoPods() {
    refused(() -> agent.pods().inAnyNamespace().list(), "cannot list");
    refused(() -> agent.pods().inNamespace(stasis.namespace).list(), "cannot list");
    assertThat(agent.pods().inNamespace(stasis.namespace).withName("none").get()).isNull();
  }

  @Test
  void aTokenThatIsBoundToNoNodeWritesNothing() {
    TokenRequest unbound =
        stasis
            .admin
            .serviceAccounts()
            .inNamespace(stasis.namespace)
            .withName(agentAccount())
            .tokenRequest(new TokenRequestBuilder().withNewSpec().endSpec().build());

    refused(() -> withToken(unbound).resource(Objects.node(own)).create(), "bound to its node");
  }

  @Test
  void anAgentUpdatesTheOperationsOfItsNode() {
    GenericKubernetesResource operation = operation("answers", own);
    operation.setAdditionalProperty("status", Map.of("phase", "Claimed"));

    agent.resource(operation).updateStatus();

    assertThat(stasis.admin.resource(operation).get().<String>get("status", "phase"))
        .isEqualTo("Claimed");
  }

  @Test
  void anAgentCannotUpdateTheOperationsOfAnotherNode() {
    GenericKubernetesResource operation = operation("of-another", other);
    operation.setAdditionalProperty("status", Map.of("phase", "Succeeded"));

    refused(() -> agent.resource(operation).updateStatus(), other, own);
  }

  @Test
  void anAgentCreatesNoOperations() {
    GenericKubernetesResource operation = operation("orders", own);

    refused(
        () -> agent.resource(Objects.operation(stasis.namespace, "mine", own)).create(),
        "cannot create");
    refused(() -> agent.resource(operation).delete(), "cannot delete");
    operation.setAdditionalProperty("spec", Map.of("type", "Thaw", "nodeName", own));
    refused(() -> agent.resource(operation).update(), "cannot update");
  }

  /** The last one: the agent keeps these rights until the chart is uninstalled. */
  @Test
  @Order(Integer.MAX_VALUE)
  void anAgentWithTooManyRightsStillCreatesNoOperations() {
    stasis.make(
        new RoleBindingBuilder()
            .withNewMetadata()
            .withNamespace(stasis.namespace)
            .withName("too-many")
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", "Role", operatorAccount())
            .addNewSubject()
            .withKind("ServiceAccount")
            .withName(agentAccount())
            .withNamespace(stasis.namespace)
            .endSubject()
            .build());

    stasis.awaitRight(agent, "create", "stasis.dev", "gpunodeoperations", null);
    refused(
        () -> agent.resource(Objects.operation(stasis.namespace, "many", own)).create(),
        "an agent may write only its status");
  }

  private static GenericKubernetesResource operation(String name, String node) {
    return stasis.make(Objects.operation(stasis.namespace, name, node));
  }

  private static Node nodeNamed(String name) {
    return new NodeBuilder().withNewMetadata().withName(name).endMetadata().build();
  }

  private static TokenRequest bound(Node node) {
    return stasis
        .admin
        .serviceAccounts()
        .inNamespace(stasis.namespace)
        .withName(agentAccount())
        .tokenRequest(
            new TokenRequestBuilder()
                .withNewSpec()
                .withNewBoundObjectRef()
                .withApiVersion("v1")
                .withKind("Node")
                .withName(node.getMetadata().getName())
                .withUid(node.getMetadata().getUid())
                .endBoundObjectRef()
                .endSpec()
                .build());
  }

  private static KubernetesClient withToken(TokenRequest token) {
    return stasis.withToken(token.getStatus().getToken());
  }

  private static String agentAccount() {
    return stasis.release + "-agent";
  }

  private static String operatorAccount() {
    return stasis.release + "-operator";
  }

  private static String message(GenericKubernetesResource node) {
    return node.get("status", "message");
  }

  private static void refused(ThrowingCallable write, String... words) {
    assertThatThrownBy(write)
        .isInstanceOf(KubernetesClientException.class)
        .message()
        .contains(words);
  }
}
