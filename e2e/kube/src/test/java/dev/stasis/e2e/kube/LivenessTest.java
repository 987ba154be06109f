package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Fault;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** No probe of the kubelet kills what stands still on purpose. */
@ExtendWith(OnACluster.class)
class LivenessTest {

  private static final int PORT = 8080;

  @Test
  void aProbeThatIsPatientEnoughDoesNotRestart(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer", pod -> probed(pod, 10, 30));

    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();

    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  @Tag("long")
  @Test
  void aProbeThatIsTooShortIsRefusedWithBothNumbers(Scenario scenario) {
    // One that fails would end it: each is given time, which does not make a freeze any safer.
    Workload workload = Workload.start(scenario, "trainer", pod -> patient(probed(pod, 1, 1), 30));

    GpuCheckpointStatus status = CheckpointRequest.apply(scenario, "train-1", "trainer").awaitEnd();

    assertThat(CheckpointRequest.phases(status)).endsWith("Failed");
    Fault fault = CheckpointRequest.faults(status).get(0);
    assertThat(fault.reason()).isEqualTo("ProbeTooShort");
    assertThat(fault.wanted()).isNotBlank();
    assertThat(fault.found()).isNotBlank();
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  /** 6 s lie between the limit of the freeze and the kubelet's kill: an idle machine. */
  @Tag("long")
  @Test
  void aFreezeThatTurnsOutTooLongIsUndoneInTime(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation().simulated(), "skipped: only a simulated GPU is slow on demand");
    Workload workload = Workload.start(scenario, "trainer", pod -> probed(pod, 6, 5));
    // 30 s are what the probe allows; the freeze may take 24.
    scenario
        .installation()
        .fault(workload.now().getSpec().getNodeName(), "checkpoint", "slow 25000");

    GpuCheckpointStatus status = CheckpointRequest.apply(scenario, "train-1", "trainer").awaitEnd();

    assertThat(CheckpointRequest.phases(status)).endsWith("Failed");
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  /** The kubelet restarts it after 30 s without an answer; it is frozen for 40 s, twice. */
  @Tag("long")
  @Test
  void anAnsweredProbeNeverRestartsAFrozenContainer(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation().simulated(), "skipped: only a simulated GPU is slow on demand");
    Workload workload = Workload.start(scenario, "trainer", pod -> patient(probed(pod, 10, 3), 10));
    scenario
        .installation()
        .fault(workload.now().getSpec().getNodeName(), "checkpoint", "slow 40000");

    GpuCheckpointStatus status =
        CheckpointRequest.apply(scenario, "train-1", "trainer", "options: {probePolicy: Emulate}")
            .awaitReady();

    assertThat(Present.in("status.timings", status.getTimings()).getFrozenMilliseconds())
        .isGreaterThan(40_000);
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();

    CheckpointRequest.apply(
            scenario,
            "pause",
            "trainer",
            "options: {probePolicy: Emulate}",
            "afterCheckpoint: Suspend")
        .await(CheckpointPhase.SUSPENDED);
    Awaitility.await("suspended for longer than its probe allows")
        .during(Duration.ofSeconds(40))
        .atMost(Scenario.PATIENCE)
        .pollInterval(Duration.ofSeconds(1))
        .until(() -> workload.restarts() == 0);
    scenario.kubectl("delete", "gckpt", "pause", Scenario.TIMEOUT);
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  private static PodBuilder patient(PodBuilder pod, int timeout) {
    return pod.editSpec()
        .editFirstContainer()
        .editLivenessProbe()
        .withTimeoutSeconds(timeout)
        .endLivenessProbe()
        .endContainer()
        .endSpec();
  }

  private static PodBuilder probed(PodBuilder pod, int period, int failures) {
    return pod.editSpec()
        .editFirstContainer()
        .addToCommand("--listen", Integer.toString(PORT))
        .withNewLivenessProbe()
        .withNewTcpSocket()
        .withPort(new IntOrString(PORT))
        .endTcpSocket()
        .withPeriodSeconds(period)
        // Nothing listens yet when a container has just started.
        .withInitialDelaySeconds(10)
        .withTimeoutSeconds(1)
        .withFailureThreshold(failures)
        .endLivenessProbe()
        .endContainer()
        .endSpec();
  }
}
