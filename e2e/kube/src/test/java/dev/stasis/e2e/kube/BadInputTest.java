package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Requests that cannot be carried out report why, and no workload is frozen for them. */
@ExtendWith(OnACluster.class)
class BadInputTest {

  /**
   * A GpuCheckpoint that is refused.
   *
   * @param names what its message names
   */
  private record Bad(String name, String pod, String more, String reason, String names) {

    String yaml() {
      return CheckpointRequest.yaml(name, pod, more);
    }
  }

  @Test
  void badCheckpointsAreRefusedBeforeTheFreeze(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    Workload pair = Workload.start(scenario, "pair", BadInputTest::withTwoGpuContainers);
    scenario.apply(waiting(scenario));
    scenario.apply(sleeper(scenario).build());
    scenario.awaitPod("plain", "runs", pod -> "Running".equals(pod.getStatus().getPhase()));
    String store = "proc-" + scenario.namespace().substring(scenario.namespace().length() - 4);
    // No process can create a folder there.
    scenario.apply(
        """
        apiVersion: stasis.dev/v1beta1
        kind: GpuCheckpointStore
        metadata:
          name: %s
        spec:
          location: {nodeLocal: {path: /proc/stasis}}
        """
            .formatted(store));
    List<Bad> requests =
        List.of(
            new Bad("no-pod", "missing", "", "PodNotFound", "missing"),
            new Bad("pending", "waiting", "", "PodNotRunning", "Pending"),
            new Bad("no-gpu", "plain", "", "NoGpu", "plain"),
            new Bad("ambiguous", "pair", "", "ContainerAmbiguous", "other"),
            new Bad(
                "sidecar",
                "pair",
                "options: {containerName: sidecar}",
                "ContainerNotFound",
                "sidecar"),
            new Bad("no-store", "trainer", "storageRef: {name: attic}", "StoreNotFound", "attic"),
            new Bad(
                "read-only",
                "trainer",
                "storageRef: {name: " + store + "}",
                "StoreNotWritable",
                "/proc/stasis"));
    try {
      scenario.apply(requests.stream().map(Bad::yaml).collect(Collectors.joining("---\n")));

      requests.forEach(request -> refused(scenario, request));
      assertThat(
              scenario
                  .tryKubectl("wait", "--for=condition=Failed", "gckpt", "--all", Scenario.TIMEOUT)
                  .ok())
          .isTrue();
      for (Workload each : List.of(workload, pair)) {
        each.verifyGoesOn();
        assertThat(each.restarts()).isZero();
      }
    } finally {
      scenario.kubectl("delete", "gckpt", "--all", Scenario.TIMEOUT);
      scenario.kubectl("delete", "gpucheckpointstore", store);
    }
  }

  @Test
  void aSpecThatTheSchemaForbidsIsNotStored(Scenario scenario) {
    scenario.apply(CheckpointRequest.yaml("c", "missing"));

    Shell.Result changed = scenario.tryApply(CheckpointRequest.yaml("c", "another"));
    Shell.Result tooLong = scenario.tryApply(CheckpointRequest.yaml("n".repeat(64), "missing"));

    assertThat(changed.ok()).isFalse();
    assertThat(changed.output()).contains("podRef: cannot be changed once the object exists");
    assertThat(tooLong.ok()).isFalse();
    assertThat(tooLong.output()).contains("63");
  }

  @Tag("long")
  @Test
  void aRestoreWaitsForWhatItLacks(Scenario scenario) {
    RestoreRequest early = RestoreRequest.apply(scenario, "early", "later");
    scenario.until(
        "the restore names the checkpoint that it waits for",
        () -> early.status().getMessage() != null && early.status().getMessage().contains("later"));
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "later", "trainer").awaitReady();
    GpuRestoreStatus status = early.awaitSucceeded();
    // The name of the source is in use, so the target has another one.
    assertThat(RestoreRequest.pod(status)).startsWith("trainer-");

    RestoreRequest taken =
        RestoreRequest.apply(scenario, "taken", "later", "target: {podName: trainer}");
    RestoreRequest nowhere =
        RestoreRequest.apply(
            scenario, "nowhere", "later", "target: {nodeSelector: {no-such: node}}");

    awaitReason(scenario, taken, "TargetTaken");
    assertThat(taken.status().getMessage()).contains("trainer");
    awaitReason(scenario, nowhere, "NoNodeFits");
    assertThat(nowhere.status().getMessage())
        .contains("target.nodeSelector[no-such]: expected node, got none");
    assertThat(Present.in("status.phase", nowhere.status().getPhase()).isFinal()).isFalse();
    workload.broughtBackAs(RestoreRequest.pod(status)).verifyGoesOn();
    workload.verifyGoesOn();
  }

  private static void awaitReason(Scenario scenario, RestoreRequest request, String reason) {
    scenario.until(
        "the reason %s of %s".formatted(reason, request.name()),
        () -> reason.equals(request.status().getReason()));
  }

  private static PodBuilder withTwoGpuContainers(PodBuilder pod) {
    return pod.editSpec()
        .addToContainers(
            pod.buildSpec().getContainers().get(0).toBuilder().withName("other").build())
        .endSpec();
  }

  private static Pod waiting(Scenario scenario) {
    return Workload.pod(scenario, "waiting", 1)
        .editSpec()
        .addToNodeSelector("no-such", "node")
        .endSpec()
        .build();
  }

  private static PodBuilder sleeper(Scenario scenario) {
    return Workload.pod(scenario, "plain", 1)
        .editSpec()
        .editFirstContainer()
        .withCommand("/bin/sleep", "3600")
        .editResources()
        .withLimits(Map.of("cpu", new Quantity("100m")))
        .endResources()
        .endContainer()
        .endSpec();
  }

  private static void refused(Scenario scenario, Bad request) {
    GpuCheckpointStatus status = new CheckpointRequest(scenario, request.name()).awaitEnd();
    assertThat(CheckpointRequest.phases(status))
        .as(request.name())
        .endsWith("Failed")
        .doesNotContain("Freezing");
    assertThat(CheckpointRequest.faults(status))
        .extracting(Fault::reason)
        .containsOnly(request.reason());
    assertThat(CheckpointRequest.condition(status, "Ready").status())
        .isEqualTo(ConditionValue.FALSE);
    assertThat(CheckpointRequest.condition(status, "Ready").reason())
        .isIn(request.reason(), "PreflightRefused");
    assertThat(CheckpointRequest.condition(status, "Ready").message()).contains(request.names());
    assertThat(CheckpointRequest.condition(status, "Failed").status())
        .isEqualTo(ConditionValue.TRUE);
  }
}
