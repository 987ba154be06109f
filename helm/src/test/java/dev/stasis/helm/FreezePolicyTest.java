package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.testing.OnTestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Every change by which a workload is frozen again asks for the right that the first one did. */
@OnTestCluster
class FreezePolicyTest {
  private static final PolicyRule EXEC = Users.rule("pods/exec", "create");
  private static final PolicyRule DELETE = Users.rule("pods", "delete");

  @SuppressWarnings("NullAway.Init") // before the first test
  private static Installed stasis;

  @SuppressWarnings("NullAway.Init")
  private static Users users;

  @BeforeAll
  static void installTheChart() {
    stasis = Installed.fromEnvironment(Map.of());
    users = new Users(stasis);
  }

  @AfterAll
  static void remove() {
    if (stasis != null) {
      stasis.close();
    }
  }

  @Test
  void suspendingOnceMoreIsAFreezeToo() {
    GenericKubernetesResource one = Objects.checkpoint(stasis.namespace, "again");
    one.setAdditionalProperty(
        "spec",
        Map.of(
            "podRef",
            Map.of("name", "trainer"),
            "afterCheckpoint",
            "Suspend",
            "desiredState",
            "Running"));
    GenericKubernetesResource made = stasis.make(one);
    KubernetesClient without = users.user();

    assertThatThrownBy(() -> keep(without, made, "Suspended")).hasMessageContaining("pods/exec");
    keep(users.user(EXEC), made, "Suspended");
    // Nobody is kept from waking a workload.
    keep(without, made, "Running");
  }

  /** Auto suspends the workload too, and is the default of an absent field. */
  @Test
  void suspendingByTakingTheStateAwayIsAFreezeToo() {
    GenericKubernetesResource made = suspendable("absent", Map.of("desiredState", "Running"));
    Map<String, Object> absent = new HashMap<>();
    absent.put("desiredState", null);
    KubernetesClient without = users.user();

    assertThatThrownBy(() -> patch(without, made, absent)).hasMessageContaining("pods/exec");
    assertThatThrownBy(() -> patch(without, made, Map.of("desiredState", "Auto")))
        .hasMessageContaining("pods/exec");
    assertThat(stasis.admin.resource(made).get().<String>get("spec", "desiredState"))
        .isEqualTo("Running");
    patch(users.user(EXEC), made, absent);
  }

  /** At the end of its turn a workload is suspended. */
  @Test
  void anyChangeOfTheTurnsIsAFreezeToo() {
    GenericKubernetesResource made = suspendable("turns", Map.of("desiredState", "Running"));
    KubernetesClient without = users.user();

    assertThatThrownBy(() -> patch(without, made, Map.of("options", Map.of("timeSlice", "30s"))))
        .hasMessageContaining("pods/exec");
    patch(users.user(EXEC), made, Map.of("options", Map.of("timeSlice", "30s")));
    Map<String, Object> absent = new HashMap<>();
    absent.put("desiredState", "Auto");
    patch(users.user(EXEC), made, absent);

    // It took turns, and would be kept out now; or would be suspended for good.
    assertThatThrownBy(() -> patch(without, made, Map.of("desiredState", "Suspended")))
        .hasMessageContaining("pods/exec");
    Map<String, Object> none = new HashMap<>();
    none.put("timeSlice", null);
    assertThatThrownBy(() -> patch(without, made, Map.of("options", none)))
        .hasMessageContaining("pods/exec");
    Map<String, Object> withoutOptions = new HashMap<>();
    withoutOptions.put("options", null);
    assertThatThrownBy(() -> patch(without, made, withoutOptions))
        .hasMessageContaining("pods/exec");
    patch(without, made, Map.of("desiredState", "Running"));
  }

  @Test
  void aPreemptionPolicyIsForThoseWhoMayExecIntoAndDeleteAnyPod() {
    GenericKubernetesResource one = Objects.policy(stasis.release + "-policy");
    KubernetesClient somewhere = users.user(EXEC, DELETE);
    users.everywhere(somewhere, policies());
    assertThatThrownBy(() -> somewhere.resource(one).create())
        .hasMessageContaining("pods/exec in every namespace");
    KubernetesClient execs = users.user();
    users.everywhere(execs, policies(), EXEC);
    assertThatThrownBy(() -> execs.resource(one).create())
        .hasMessageContaining("delete pods in every namespace");
    KubernetesClient both = users.user();
    users.everywhere(both, policies(), EXEC, DELETE);
    both.resource(one).dryRun().create();
  }

  private static GenericKubernetesResource suspendable(String name, Map<String, Object> more) {
    GenericKubernetesResource one = Objects.checkpoint(stasis.namespace, name);
    Map<String, Object> spec = new HashMap<>(more);
    spec.put("podRef", Map.of("name", "trainer"));
    spec.put("afterCheckpoint", "Suspend");
    one.setAdditionalProperty("spec", spec);
    return stasis.make(one);
  }

  private static void patch(
      KubernetesClient user, GenericKubernetesResource checkpoint, Map<String, Object> spec) {
    user.resource(checkpoint)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            user.getKubernetesSerialization().asJson(Map.of("spec", spec)));
  }

  private static PolicyRule policies() {
    return new PolicyRuleBuilder()
        .withApiGroups("stasis.dev")
        .withResources("gpupreemptionpolicies")
        .withVerbs("get", "create")
        .build();
  }

  private static void keep(
      KubernetesClient user, GenericKubernetesResource checkpoint, String state) {
    // Of any version: it was changed meanwhile.
    checkpoint.getMetadata().setResourceVersion(null);
    user.resource(checkpoint)
        .edit(
            now -> {
              Map<String, Object> spec = new HashMap<>(now.get("spec"));
              spec.put("desiredState", state);
              now.setAdditionalProperty("spec", spec);
              return now;
            });
  }
}
