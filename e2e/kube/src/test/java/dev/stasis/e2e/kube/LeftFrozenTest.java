package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import io.fabric8.kubernetes.api.model.Pod;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A driver that does not bring a workload back: it is said to stand still as long as it does, and
 * the agent that runs wakes it as soon as the driver lets it.
 */
@ExtendWith(OnACluster.class)
class LeftFrozenTest {

  @Test
  void aWorkloadThatCouldNotBeThawedIsThawedLaterAndReportedAsRunning(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation().simulated(), "skipped: only a simulated GPU fails on demand");
    Workload workload = Workload.start(scenario, "trainer");
    scenario
        .installation()
        .fault(workload.now().getSpec().getNodeName(), "unlock", "error 999 always");

    CheckpointRequest request = CheckpointRequest.apply(scenario, "train-1", "trainer");
    GpuCheckpointStatus failed = request.awaitEnd();
    assertThat(failed.getPhase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(CheckpointRequest.condition(failed, "SourceRunning"))
        .satisfies(
            condition -> {
              assertThat(condition.status()).isEqualTo(ConditionValue.FALSE);
              assertThat(condition.reason()).isEqualTo("NotThawed");
            });
    scenario.awaitPod(
        "trainer", "says that it stands still", pod -> frozen(pod, "True", "NotThawed"));

    scenario.installation().clearFaults();
    scenario.await(
        GpuCheckpoint.class,
        "train-1",
        "says that its source runs",
        found ->
            found.getStatus() != null
                && CheckpointRequest.condition(found.getStatus(), "SourceRunning").status()
                    == ConditionValue.TRUE);
    scenario.awaitPod("trainer", "says that it goes on", pod -> frozen(pod, "False", "Thawed"));
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  /** The steps of the runbook NotThawed: the frozen one is given up. */
  @Test
  void theWorkOfAWorkloadThatCannotBeThawedIsRestoredFromTheArtifactOfItsFailedCheckpoint(
      Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation().simulated(), "skipped: only a simulated GPU fails on demand");
    Workload workload = Workload.start(scenario, "trainer");
    String node = workload.now().getSpec().getNodeName();
    scenario.installation().fault(node, "unlock", "error 999 always");
    GpuCheckpointStatus failed = CheckpointRequest.apply(scenario, "train-1", "trainer").awaitEnd();
    assertThat(failed.getPhase()).isEqualTo(CheckpointPhase.FAILED);
    ArtifactStatus artifact = Present.in("status.artifact", failed.getArtifact());
    Workload back = workload.broughtBackAs("trainer");

    scenario.kubectl(
        "patch",
        "gckpt",
        "train-1",
        "--type=merge",
        "-p",
        "{\"spec\":{\"options\":{\"deletionPolicy\":\"Retain\"}}}");
    workload.delete();
    scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);
    scenario.installation().clearFaults();
    scenario.installation().endQuarantine(node);
    scenario.apply(
        """
        apiVersion: stasis.dev/v1beta1
        kind: GpuCheckpoint
        metadata:
          name: train-2
        spec:
          importFrom:
            podName: trainer
            location: %s
            nodeName: %s
          storageRef:
            name: %s
        """
            .formatted(artifact.getLocation(), artifact.getNode(), artifact.getStore()));
    new CheckpointRequest(scenario, "train-2").awaitReady();
    RestoreRequest.apply(scenario, "back", "train-2").awaitSucceeded();
    back.verifyGoesOn();
  }

  private static boolean frozen(Pod pod, String status, String reason) {
    return pod.getStatus().getConditions().stream()
        .anyMatch(
            condition ->
                condition.getType().equals("stasis.dev/Frozen")
                    && condition.getStatus().equals(status)
                    && reason.equals(condition.getReason()));
  }
}
