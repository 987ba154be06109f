package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.testing.OnTestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.HashMap;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Rule 13: who has a pod frozen, removed or made is one who may do that by hand. */
@OnTestCluster
class UserPolicyTest {
  private static final PolicyRule EXEC = Users.rule("pods/exec", "create");
  private static final PolicyRule DELETE = Users.rule("pods", "delete");
  private static final PolicyRule CREATE = Users.rule("pods", "create");

  @SuppressWarnings("NullAway.Init") // before the first test
  private static Installed stasis;

  @SuppressWarnings("NullAway.Init")
  private static Users users;

  @BeforeAll
  static void installTheChart() {
    stasis = Installed.fromEnvironment(Map.of("admission.createdBy", "Always"));
    users = new Users(stasis);
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
  void aUserWhoMayExecIntoOnePodCanFreezeOnlyThatPod() {
    PolicyRule trainerOnly = new PolicyRuleBuilder(EXEC).withResourceNames("trainer").build();
    KubernetesClient user = user(trainerOnly);

    allowed(user, Objects.checkpoint(stasis.namespace, "named"));
    refused(
        user,
        Objects.checkpoint(
            stasis.namespace, "of-another", Map.of("podRef", Map.of("name", "serving"))),
        "serving");
  }

  @Test
  void anEvictionIsForThoseWhoMayDeleteThePod() {
    HasMetadata one =
        Objects.checkpoint(
            stasis.namespace,
            "evict",
            Map.of("podRef", Map.of("name", "trainer"), "afterCheckpoint", "Evict"));

    refused(user(EXEC), one, "Evict", "delete");
    allowed(user(EXEC, DELETE), one);
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
  void theCreatorIsRecordedAndCannotBeForged() {
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

  private static KubernetesClient user(PolicyRule... rules) {
    return users.user(rules);
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
