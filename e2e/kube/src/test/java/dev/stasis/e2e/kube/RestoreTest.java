package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.ProcessProof;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pod that was deleted comes back by a GpuRestore. */
@ExtendWith(OnACluster.class)
class RestoreTest {

  @Test
  void aDeletedPodIsRestoredAndVerified(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    Workload back = workload.broughtBackAs("trainer");
    workload.delete();

    RestoreRequest request = RestoreRequest.apply(scenario, "train-1-back", "train-1");
    scenario.kubectl("wait", "--for=condition=Succeeded", "grst/train-1-back", Scenario.TIMEOUT);
    GpuRestoreStatus status = request.awaitSucceeded();

    assertThat(RestoreRequest.pod(status)).isEqualTo("trainer");
    Proof proof = Present.in("status.proof", status.getProof());
    assertThat(proof.processes()).extracting(ProcessProof::driverState).contains("RUNNING");
    assertThat(proof.gpuBytesFound()).isEqualTo(proof.gpuBytesWanted());
    Pod ready = scenario.awaitPod("trainer", "is Ready", StepFile::isReady);
    assertThat(becameReady(ready)).isAfterOrEqualTo(proof.time().truncatedTo(ChronoUnit.SECONDS));
    if (scenario.installation().simulated()) {
      // Loaded from a file, the image is in no registry: only its id finds it.
      assertThat(ready.getSpec().getContainers().get(0).getImage()).startsWith("sha256:");
    }
    // kubectl logs goes on where it was, and exec works: the check runs in the pod.
    back.verifyGoesOn();
    assertThat(back.restarts()).isZero();
    assertThat(scenario.exec("trainer", "ps").output()).contains("gpu-counter");
    String[] table = scenario.kubectl("get", "grst").split("\n");
    assertThat(table[0].split(" +"))
        .containsExactly("NAME", "CHECKPOINT", "POD", "NODE", "PHASE", "TOOK", "AGE", "REASON");
    assertThat(table[1].split(" +")).contains("train-1", "trainer", "Succeeded", "Proven");
  }

  @Tag("long")
  @Test
  void aRestoredPodCanBeCheckpointedAndRestoredAgain(Scenario scenario) {
    Workload first = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    Workload second = first.broughtBackAs("trainer");
    first.delete();
    RestoreRequest.apply(scenario, "back-1", "train-1").awaitSucceeded();
    second.verifyGoesOn();

    CheckpointRequest.apply(scenario, "train-2", "trainer").awaitReady();
    second.verifyGoesOn();
    Workload third = second.broughtBackAs("trainer");
    second.delete();
    RestoreRequest.apply(scenario, "back-2", "train-2").awaitSucceeded();

    third.verifyGoesOn();
    assertThat(third.restarts()).isZero();
  }

  @Tag("long")
  @Test
  void aPodInARestrictedNamespaceIsRestored(Scenario scenario) {
    scenario.label(Map.of("pod-security.kubernetes.io/enforce", "restricted"));
    Workload workload = Workload.start(scenario, "trainer", RestrictedPod::asUser1000);
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    workload.verifyGoesOn();
    Workload back = workload.broughtBackAs("trainer");
    workload.delete();

    RestoreRequest.apply(scenario, "back", "train-1").awaitSucceeded();

    back.verifyGoesOn();
    assertThat(scenario.exec("trainer", "cat", "/proc/self/status").output())
        .containsPattern("Uid:\\s+1000\\s+1000");
  }

  @Test
  void aPodWithAReadOnlyRootIsRestored(Scenario scenario) {
    Workload workload =
        Workload.start(
            scenario,
            "trainer",
            pod ->
                RestrictedPod.asUser1000(pod)
                    .editSpec()
                    .editFirstContainer()
                    .editSecurityContext()
                    .withReadOnlyRootFilesystem(true)
                    .endSecurityContext()
                    .endContainer()
                    .endSpec());
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    Workload back = workload.broughtBackAs("trainer");
    workload.delete();

    RestoreRequest.apply(scenario, "back", "train-1").awaitSucceeded();

    back.verifyGoesOn();
    assertThat(back.restarts()).isZero();
  }

  @Test
  void aKilledWorkloadIsToldAsTheKubeletTellsIt(Scenario scenario) {
    Workload back = restored(scenario, "Never");

    back.kill();

    scenario.awaitPod(
        "trainer",
        "ended with 137",
        pod ->
            "Failed".equals(pod.getStatus().getPhase())
                && pod.getStatus()
                    .getContainerStatuses()
                    .get(0)
                    .getState()
                    .getTerminated()
                    .getExitCode()
                    .equals(137));
  }

  @Tag("long")
  @Test
  void aRestoredPodToRestartOnFailureThatCrashesStartsAsItsImageWould(Scenario scenario) {
    aRestoredPodThatCrashesStartsAsItsImageWould("OnFailure", scenario);
  }

  @ParameterizedTest
  @ValueSource(strings = "Always")
  void aRestoredPodThatCrashesStartsAsItsImageWould(String policy, Scenario scenario) {
    Workload back = restored(scenario, policy);

    back.kill();

    startsCold(scenario, back);
  }

  @Tag("long")
  @Test
  void aRestoredPodWhoseProbeFailsStartsAsItsImageWould(Scenario scenario) {
    Workload back =
        restored(
            scenario,
            pod ->
                pod.editSpec()
                    .editFirstContainer()
                    .withNewLivenessProbe()
                    .withNewExec()
                    .withCommand("sh", "-c", "[ ! -e /tmp/sick ]")
                    .endExec()
                    .withPeriodSeconds(8)
                    // A command in a container takes its time on a busy machine.
                    .withTimeoutSeconds(8)
                    .withFailureThreshold(3)
                    .endLivenessProbe()
                    .endContainer()
                    .endSpec());

    Shell.Result sick = scenario.exec("trainer", "sh", "-c", ": >/tmp/sick");
    assertThat(sick.ok()).as(sick.output()).isTrue();

    startsCold(scenario, back);
  }

  private static void startsCold(Scenario scenario, Workload back) {
    scenario.until("it has started again", () -> back.restarts() == 1);
    scenario.until(
        "it counts from 1",
        () -> !back.steps().isEmpty() && back.steps().get(0).startsWith("step 1 "));
    scenario.awaitEvent("ColdStarted");
    scenario.awaitPod(back.name(), "is Ready again", StepFile::isReady);
  }

  private static Workload restored(Scenario scenario, String policy) {
    return restored(scenario, pod -> pod.editSpec().withRestartPolicy(policy).endSpec());
  }

  private static Workload restored(Scenario scenario, UnaryOperator<PodBuilder> change) {
    Workload workload = Workload.start(scenario, "trainer", change);
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    Workload back = workload.broughtBackAs("trainer");
    workload.delete();
    RestoreRequest.apply(scenario, "back", "train-1").awaitSucceeded();
    back.awaitSteps(2);
    return back;
  }

  private static Instant becameReady(Pod pod) {
    return pod.getStatus().getConditions().stream()
        .filter(each -> each.getType().equals("Ready"))
        .map(PodCondition::getLastTransitionTime)
        .map(Instant::parse)
        .findFirst()
        .orElseThrow();
  }
}
