package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** Nobody gets by Stasis what Kubernetes would not give him. */
@ExtendWith(OnACluster.class)
@Order(OnACluster.LAST)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class TrustTest {

  @Test
  void anAgentWritesForItsOwnNodeOnly(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation().nodes().size() > 1, "skipped: it takes two nodes with GPUs");
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: an agent's token is only at hand where the agents run beside this test");
    LocalInstallation local = (LocalInstallation) scenario.installation();
    String other = scenario.installation().nodes().get(1);
    String kubeconfig = local.kubeconfigOfAgent(scenario.installation().nodes().get(0)).toString();

    Shell.Result result =
        scenario.tryKubectl(
            "--kubeconfig",
            kubeconfig,
            "patch",
            "gpunode",
            other,
            "--subresource=status",
            "--type=merge",
            "--patch",
            "{\"status\":{\"message\":\"mine\"}}");

    assertThat(result.ok()).isFalse();
    assertThat(result.output()).contains(other);
  }

  @Test
  void aUserWithoutTheRightToExecCannotCheckpoint(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    scenario.apply(
        """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata:
          name: asks
        rules:
        - apiGroups: [stasis.dev]
          resources: [gpucheckpoints, gpurestores]
          verbs: [get, list, create, patch]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata:
          name: asks
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: asks}
        subjects:
        - {kind: User, name: eve, apiGroup: rbac.authorization.k8s.io}
        """);

    // A role counts some moments after it was made.
    scenario.until(
        "eve may make GpuCheckpoints",
        () ->
            scenario
                .tryKubectl("auth", "can-i", "create", "gpucheckpoints.stasis.dev", "--as=eve")
                .ok());
    Shell.Result checkpoint =
        scenario.feedKubectl(
            CheckpointRequest.yaml("c", "trainer"), "--as=eve", "create", "-f", "-");

    assertThat(checkpoint.ok()).isFalse();
    assertThat(checkpoint.output()).contains("pods/exec").contains("eve");
    workload.verifyGoesOn();
  }

  /**
   * The logs tell of all that ran before, too. The API server's count is of everybody: a kubelet
   * that asks for what a pod had a moment ago is refused now and then. A right that one of ours
   * lacks is missed every time, so one round of three without a refusal shows that none lacks.
   */
  @Test
  @Order(Integer.MAX_VALUE)
  void noComponentLacksARight(Scenario scenario) {
    long refused = refusedWhile(scenario, 1);
    for (int round = 2; refused > 0 && round <= 3; round++) {
      refused = refusedWhile(scenario, round);
    }

    assertThat(refusals(scenario.installation().operator())).isEmpty();
    for (String node : scenario.installation().nodes()) {
      assertThat(refusals(scenario.installation().agent(node))).isEmpty();
    }
    if (scenario.installation() instanceof LocalInstallation) {
      assertThat(refused)
          .as("requests refused for want of a right, by the API server's count, in each round")
          .isZero();
    }
  }

  private static long refusedWhile(Scenario scenario, int round) {
    String checkpoint = "train-" + round;
    Refusals before = Refusals.now(scenario.admin());
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, checkpoint, "trainer").awaitReady();
    workload.delete();
    RestoreRequest.apply(scenario, "back", checkpoint).awaitSucceeded();
    scenario.kubectl("delete", "grst/back", "gckpt/" + checkpoint, Scenario.TIMEOUT);
    scenario.kubectl("delete", "pods", "--all", "--grace-period=1", Scenario.TIMEOUT);
    return Refusals.now(scenario.admin()).since(before);
  }

  private static java.util.List<String> refusals(Component component) {
    return component
        .log()
        .lines()
        .filter(
            line ->
                (line.contains("is forbidden")
                        || line.contains("Forbidden")
                        || line.contains("code=403"))
                    // That is no want of a right: nobody may write there any more.
                    && !line.contains("is being terminated")
                    // Nor is this: what was wanted came too late, as of a pod that has its node.
                    && !line.contains("code=422"))
        .toList();
  }
}
