package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Explanation;
import io.fabric8.kubernetes.api.model.Quantity;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code kubectl apply -f} of a GpuCheckpoint for a running pod. */
@ExtendWith(OnACluster.class)
class CheckpointTest {

  private static final long MIB = 1 << 20;

  @Test
  void aRunningPodIsCheckpointedAndKeepsRunning(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");

    CheckpointRequest request = CheckpointRequest.apply(scenario, "train-1", "trainer");
    scenario.kubectl("wait", "--for=condition=Ready", "gckpt/train-1", Scenario.TIMEOUT);
    GpuCheckpointStatus status = request.awaitReady();

    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    assertThat(CheckpointRequest.phases(status)).startsWith("Pending").endsWith("Ready");
    assertThat(CheckpointRequest.phases(status)).doesNotHaveDuplicates();
    assertThat(CheckpointRequest.condition(status, "SourceRunning").status())
        .isEqualTo(ConditionValue.TRUE);
    ArtifactStatus artifact = Present.in("status.artifact", status.getArtifact());
    assertThat(artifact.getGpuBytes()).isGreaterThanOrEqualTo(Workload.MIB * MIB);
    assertThat(artifact.getSha256()).hasSize(64);
    assertThat(Present.in("status.timings", status.getTimings()).getFrozenMilliseconds())
        .isPositive();
    assertThat(Present.in("status.pod", status.getPod()).uid())
        .isEqualTo(workload.now().getMetadata().getUid());
    assertShown(scenario, workload);
  }

  /** By kubectl, in its table and events. */
  private static void assertShown(Scenario scenario, Workload workload) {
    String[] table = scenario.kubectl("get", "gckpt").split("\n");
    assertThat(table[0].split(" +"))
        .containsExactly("NAME", "POD", "NODE", "PHASE", "SIZE", "FROZEN", "AGE", "REASON");
    assertThat(table[1]).hasSizeLessThanOrEqualTo(80);
    assertThat(table[1].split(" +"))
        .contains("train-1", "trainer", "Ready", "ArtifactVerified")
        .contains(workload.now().getSpec().getNodeName());
    scenario.until(
        "events of the story",
        () -> {
          String told = scenario.kubectl("describe", "gckpt", "train-1");
          String ofPod = scenario.kubectl("describe", "pod", "trainer");
          return told.contains("Events:")
              && told.substring(told.indexOf("Events:")).contains("ArtifactVerified")
              && ofPod.contains("Events:")
              && ofPod.substring(ofPod.indexOf("Events:")).contains("Frozen");
        });
    // While frozen the pod says so; afterwards it says that it is not.
    scenario.awaitPod(
        "trainer",
        "is not frozen",
        pod ->
            pod.getStatus().getConditions().stream()
                .anyMatch(
                    condition ->
                        condition.getType().equals("stasis.dev/Frozen")
                            && condition.getStatus().equals("False")));
  }

  @Test
  void aMemoryLimitThatIsTooLowIsRaisedAndReturned(Scenario scenario) {
    // 64 MiB on the GPU, and a limit that the workload alone just fits into.
    int mib = 48;
    Workload workload =
        Workload.start(
            scenario,
            "trainer",
            mib,
            pod ->
                pod.editSpec()
                    .editFirstContainer()
                    .editResources()
                    .addToLimits("memory", new Quantity("40Mi"))
                    .addToRequests("memory", new Quantity("40Mi"))
                    .endResources()
                    .endContainer()
                    .endSpec());

    GpuCheckpointStatus status =
        CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();

    assertThat(Present.in("status.room", status.getRoom()).originalLimit()).isEqualTo("40Mi");
    scenario.until(
        "its limit is what it was",
        () ->
            scenario
                .kubectl(
                    "get",
                    "pod",
                    "trainer",
                    "-o",
                    "jsonpath={.spec.containers[0].resources.limits.memory}"
                        + " {.status.containerStatuses[0].resources.limits.memory}")
                .equals("40Mi 40Mi"));
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    scenario.kubectl("wait", "--for=condition=RoomReturned", "gckpt/train-1", Scenario.TIMEOUT);
  }

  @Tag("long")
  @Test
  void anExplanationFreezesNothing(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");

    GpuCheckpointStatus status =
        CheckpointRequest.apply(scenario, "why", "trainer", "options: {dryRun: true}")
            .await(CheckpointPhase.EXPLAINED);

    Explanation explanation = Present.in("status.explanation", status.getExplanation());
    assertThat(explanation.faults()).isNullOrEmpty();
    assertThat(explanation.expectedBytes()).isGreaterThan(Workload.MIB * MIB);
    assertThat(status.getNodesFit()).isEqualTo(scenario.installation().nodes().size());
    assertThat(CheckpointRequest.condition(status, "Feasible").status())
        .isEqualTo(ConditionValue.TRUE);
    assertThat(status.getArtifact()).isNull();
    workload.verifyGoesOn();
  }

  @Test
  void aSuspendedPodDoesNotRunUntilItIsResumed(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");

    CheckpointRequest request =
        CheckpointRequest.apply(scenario, "pause", "trainer", "afterCheckpoint: Suspend");
    GpuCheckpointStatus status = request.await(CheckpointPhase.SUSPENDED);
    assertThat(CheckpointRequest.condition(status, "Suspended").status())
        .isEqualTo(ConditionValue.TRUE);
    assertThat(status.getReason()).isEqualTo("NoArtifact");

    int printed = workload.someSteps().size();
    scenario.kubectl(
        "patch",
        "gckpt",
        "pause",
        "--type=merge",
        "--patch",
        "{\"spec\":{\"desiredState\":\"Running\"}}");
    workload.awaitSteps(3);

    assertThat(workload.someSteps().size()).isGreaterThan(printed);
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }
}
