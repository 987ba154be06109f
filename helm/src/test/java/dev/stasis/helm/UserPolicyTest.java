package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.testing.OnTestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Rule 13: who has a pod frozen, removed or made is one who may do that by hand. */
@OnTestCluster
class UserPolicyTest {
  private static final PolicyRule EXEC = rule("pods/exec", "create");
  private static final PolicyRule DELETE = rule("pods", "delete");
  private static final PolicyRule CREATE = rule("pods", "create");

  @SuppressWarnings("NullAway.Init") // before the first test
  private static Installed stasis;

  private static int users;

  @BeforeAll
  static void installTheChart() {
    stasis = Installed.fromEnvironment(Map.of("admission.createdBy", "Always"));
  }

  @AfterAll
  static void remove() {
    if (stasis != null) {
      stasis.close();
    }
  }

  @Test
  void aCheckpointIsForThoseWhoMayExecIntoThePod() {
    HasMetadata one = Objects.checkpoint(stasis.namespace, "exec");

    refused(user(DELETE, CREATE), one, "trainer", "pods/exec");
    allowed(user(EXEC), one);
  }

  @Test
  void whoMayExecIntoOnePodFreezesOnlyThat() {
    PolicyRule trainerOnly = new PolicyRuleBuilder(EXEC).withResourceNames("trainer").build();
    KubernetesClient user = user(trainerOnly);

    allowed(user, Objects.checkpoint(stasis.namespace, "named"));
    refused(
        user,
        Objects.checkpoint(stasis.namespace, "of-another", Map.of("podName", "serving")),
        "serving");
  }

  @Test
  void anEvictionIsForThoseWhoMayDeleteThePod() {
    HasMetadata one =
        Objects.checkpoint(
            stasis.namespace, "evict", Map.of("podName", "trainer", "afterCheckpoint", "Evict"));

    refused(user(EXEC), one, "Evict", "delete");
    allowed(user(EXEC, DELETE), one);
  }

  @Test
  void suspendingOnceMoreIsAFreezeToo() {
    GenericKubernetesResource one = Objects.checkpoint(stasis.namespace, "again");
    one.setAdditionalProperty(
        "spec", Map.of("podName", "trainer", "afterCheckpoint", "Suspend", "suspend", false));
    GenericKubernetesResource made = stasis.make(one);
    KubernetesClient without = user();

    assertThatThrownBy(() -> suspend(without, made, true)).hasMessageContaining("pods/exec");
    suspend(user(EXEC), made, true);
    // Nobody is kept from waking a workload.
    suspend(without, made, false);
  }

  @Test
  void aRestoreIsForThoseWhoMayCreatePods() {
    HasMetadata one = Objects.restore(stasis.namespace, "restore");

    refused(user(EXEC, DELETE), one, "create pods");
    allowed(user(CREATE), one);
  }

  @Test
  void aMigrationIsForThoseWhoMayExecIntoThePodAndDeleteIt() {
    HasMetadata one = Objects.migration(stasis.namespace, "migration");

    refused(user(DELETE, CREATE), one, "pods/exec");
    refused(user(EXEC, CREATE), one, "delete");
    allowed(user(EXEC, DELETE), one);
  }

  @Test
  void aScheduleIsForThoseWhoMayExecIntoAnyPod() {
    GenericKubernetesResource one = Objects.schedule(stasis.namespace, "schedule");
    PolicyRule trainerOnly = new PolicyRuleBuilder(EXEC).withResourceNames("trainer").build();

    refused(user(trainerOnly), one, "pods/exec");
    allowed(user(EXEC), one);
    Map<String, Object> spec = new HashMap<>(one.get("spec"));
    spec.put("restoreOnFailure", Map.of());
    one.setAdditionalProperty("spec", spec);
    refused(user(EXEC), one, "restoreOnFailure", "create pods");
    allowed(user(EXEC, CREATE), one);
  }

  @Test
  void whoAskedIsKeptWhateverTheUserSays() {
    KubernetesClient user = user(EXEC);
    GenericKubernetesResource one = Objects.checkpoint(stasis.namespace, "asked");
    one.getMetadata().setAnnotations(Map.of("stasis.dev/created-by", "somebody-else"));

    GenericKubernetesResource made = user.resource(one).create();

    try {
      String creator = user.getConfiguration().getImpersonateUsername();
      assertThat(made.getMetadata().getAnnotations())
          .containsEntry("stasis.dev/created-by", creator);
      made.getMetadata().setAnnotations(Map.of());
      assertThatThrownBy(() -> user.resource(made).update()).hasMessageContaining("created-by");
    } finally {
      stasis.admin.resource(made).delete();
    }
  }

  private static void suspend(
      KubernetesClient user, GenericKubernetesResource checkpoint, boolean suspend) {
    // Of any version: it was changed meanwhile.
    checkpoint.getMetadata().setResourceVersion(null);
    user.resource(checkpoint)
        .edit(
            now -> {
              Map<String, Object> spec = new HashMap<>(now.get("spec"));
              spec.put("suspend", suspend);
              now.setAdditionalProperty("spec", spec);
              return now;
            });
  }

  /** A user with the chart's role for editing, and these rights. */
  static KubernetesClient user(PolicyRule... rules) {
    String name = stasis.release + "-user-" + users++;
    stasis.make(
        new RoleBuilder()
            .withNewMetadata()
            .withNamespace(stasis.namespace)
            .withName(name)
            .endMetadata()
            .withRules(List.of(rules))
            .build());
    Stream.of(List.of("Role", name), List.of("ClusterRole", stasis.release + "-edit"))
        .forEach(role -> bind(name, role.get(0), role.get(1)));
    KubernetesClient user = stasis.client(config -> config.withImpersonateUsername(name));
    stasis.awaitRight(user, "create", "stasis.dev", "gpucheckpoints", null);
    for (PolicyRule rule : rules) {
      List<String> only = rule.getResourceNames();
      stasis.awaitRight(
          user,
          rule.getVerbs().get(0),
          "",
          rule.getResources().get(0),
          only.isEmpty() ? null : only.get(0));
    }
    return user;
  }

  private static void bind(String user, String kind, String role) {
    stasis.make(
        new RoleBindingBuilder()
            .withNewMetadata()
            .withNamespace(stasis.namespace)
            .withName(user + "-" + kind.toLowerCase(Locale.ROOT))
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", kind, role)
            .addNewSubject()
            .withApiGroup("rbac.authorization.k8s.io")
            .withKind("User")
            .withName(user)
            .endSubject()
            .build());
  }

  private static PolicyRule rule(String resource, String verb) {
    return new PolicyRuleBuilder()
        .withApiGroups("")
        .withResources(resource)
        .withVerbs(verb)
        .build();
  }

  private static void allowed(KubernetesClient user, HasMetadata one) {
    HasMetadata made = user.resource(one).create();
    stasis.admin.resource(made).delete();
  }

  private static void refused(KubernetesClient user, HasMetadata one, String... words) {
    ThrowingCallable create = () -> user.resource(one).create();
    assertThatThrownBy(create)
        .isInstanceOf(KubernetesClientException.class)
        .message()
        .contains(words);
  }
}
