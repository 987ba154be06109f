package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.restore.GpuRestoreStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What is wrong is said in one sentence, and nothing is touched. */
@ExtendWith(OnACluster.class)
class BadInputTest {

  @Test
  void aPodThatIsNotThereIsNamed(Scenario scenario) {
    refused(scenario, CheckpointRequest.apply(scenario, "c", "nobody"), "PodNotFound", "nobody");
  }

  @Test
  void aPodThatDoesNotRunIsRefused(Scenario scenario) {
    Pod waiting =
        Workload.pod(scenario, "waiting", 1)
            .editSpec()
            .addToNodeSelector("no-such", "node")
            .endSpec()
            .build();
    scenario.apply(waiting);

    refused(
        scenario, CheckpointRequest.apply(scenario, "c", "waiting"), "PodNotRunning", "Pending");
  }

  @Test
  void aPodWithoutGpuIsRefused(Scenario scenario) {
    scenario.apply(sleeper(scenario).build());
    scenario.awaitPod("plain", "runs", pod -> "Running".equals(pod.getStatus().getPhase()));

    refused(scenario, CheckpointRequest.apply(scenario, "c", "plain"), "NoGpu", "plain");
  }

  @Test
  void oneOfTwoGpuContainersHasToBeNamed(Scenario scenario) {
    Workload workload =
        Workload.start(
            scenario,
            "pair",
            pod ->
                pod.editSpec()
                    .addToContainers(
                        pod.buildSpec().getContainers().get(0).toBuilder()
                            .withName("other")
                            .build())
                    .endSpec());

    refused(
        scenario, CheckpointRequest.apply(scenario, "c", "pair"), "ContainerAmbiguous", "other");
    workload.verifyGoesOn();
  }

  @Test
  void anUnknownContainerIsNamed(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");

    refused(
        scenario,
        CheckpointRequest.apply(scenario, "c", "trainer", "containerName: sidecar"),
        "ContainerNotFound",
        "sidecar");
    workload.verifyGoesOn();
  }

  @Test
  void aStoreThatIsMissingIsNamed(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");

    refused(
        scenario,
        CheckpointRequest.apply(scenario, "c", "trainer", "store: attic"),
        "StoreNotFound",
        "attic");
    workload.verifyGoesOn();
  }

  @Test
  void aStoreThatCannotBeWrittenIsRefusedBeforeTheFreeze(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    String store = "proc-" + scenario.namespace().substring(scenario.namespace().length() - 4);
    // Nobody can make a folder there.
    scenario.apply(
        """
        apiVersion: stasis.dev/v1alpha1
        kind: GpuCheckpointStore
        metadata:
          name: %s
        spec:
          nodeLocal:
            path: /proc/stasis
        """
            .formatted(store));
    try {
      refused(
          scenario,
          CheckpointRequest.apply(scenario, "c", "trainer", "store: " + store),
          "StoreNotWritable",
          "/proc/stasis");
      workload.verifyGoesOn();
    } finally {
      scenario.kubectl("delete", "gckpt", "c", "--timeout=480s");
      scenario.kubectl("delete", "gpucheckpointstore", store);
    }
  }

  @Test
  void aSpecIsNotChangedAfterwards(Scenario scenario) {
    CheckpointRequest.apply(scenario, "c", "nobody");

    Shell.Result result = scenario.tryApply(CheckpointRequest.yaml("c", "somebody"));

    assertThat(result.ok()).isFalse();
    assertThat(result.output()).contains("podName: cannot be changed once the object exists");
  }

  @Test
  void aNameThatIsTooLongIsRefused(Scenario scenario) {
    String name = "n".repeat(64);

    Shell.Result result = scenario.tryApply(CheckpointRequest.yaml(name, "trainer"));

    assertThat(result.ok()).isFalse();
    assertThat(result.output()).contains("63");
  }

  @Test
  void aNodeThatDoesNotFitIsNotTried(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    workload.delete();

    RestoreRequest request =
        RestoreRequest.apply(
            scenario, "back", "train-1", "target: {nodeSelector: {no-such: node}}");

    scenario.until(
        "the status says that none fits", () -> "NoNodeFits".equals(request.status().getReason()));
    assertThat(request.status().getMessage())
        .contains("target.nodeSelector[no-such]: wanted node, found none");
    assertThat(Present.in("status.phase", request.status().getPhase()).isFinal()).isFalse();
  }

  @Test
  void aTargetNameThatIsTakenIsRefused(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();

    RestoreRequest request =
        RestoreRequest.apply(scenario, "back", "train-1", "target: {podName: trainer}");

    scenario.until("the status says so", () -> "TargetTaken".equals(request.status().getReason()));
    assertThat(request.status().getMessage()).contains("trainer");
    workload.verifyGoesOn();
  }

  @Test
  void aRestoreOfWhatIsNotReadyWaits(Scenario scenario) {
    RestoreRequest request = RestoreRequest.apply(scenario, "back", "later");
    scenario.until(
        "it says for what it waits",
        () ->
            request.status().getMessage() != null
                && request.status().getMessage().contains("later"));

    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "later", "trainer").awaitReady();

    GpuRestoreStatus status = request.awaitSucceeded();
    // The old name is not free, so it got another one.
    assertThat(RestoreRequest.pod(status)).startsWith("trainer-");
    workload.verifyGoesOn();
    workload.broughtBackAs(RestoreRequest.pod(status)).verifyGoesOn();
  }

  private static PodBuilder sleeper(Scenario scenario) {
    return Workload.pod(scenario, "plain", 1)
        .editSpec()
        .editFirstContainer()
        .withCommand("/bin/sleep", "3600")
        .editResources()
        .withLimits(java.util.Map.of("cpu", new Quantity("100m")))
        .endResources()
        .endContainer()
        .endSpec();
  }

  private static void refused(
      Scenario scenario, CheckpointRequest request, String reason, String named) {
    GpuCheckpointStatus status = request.awaitEnd();
    assertThat(CheckpointRequest.phases(status)).endsWith("Failed").doesNotContain("Freezing");
    assertThat(CheckpointRequest.condition(status, "Ready").status()).isEqualTo(Truth.FALSE);
    assertThat(CheckpointRequest.faults(status)).extracting(Fault::reason).containsOnly(reason);
    assertThat(CheckpointRequest.condition(status, "Ready").reason())
        .isIn(reason, "PreflightRefused");
    assertThat(CheckpointRequest.condition(status, "Ready").message()).contains(named);
    assertThat(CheckpointRequest.condition(status, "Failed").status()).isEqualTo(Truth.TRUE);
    assertThat(
            scenario
                .tryKubectl("wait", "--for=condition=Failed", "gckpt", "--all", "--timeout=480s")
                .ok())
        .isTrue();
  }
}
