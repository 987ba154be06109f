package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.common.Truth;
import io.fabric8.kubernetes.api.model.Pod;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Whatever is deleted, no workload stays frozen and no pod goes that should not. */
@ExtendWith(OnACluster.class)
class DeletionTest {

  @Test
  void aCheckpointAtWorkIsUndoneAndGoes(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    slowly(scenario, workload);
    CheckpointRequest request = CheckpointRequest.apply(scenario, "train-1", "trainer");
    request.await(CheckpointPhase.FREEZING);

    scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);

    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    nothingIsLeft(scenario);
  }

  @Tag("long")
  @Test
  void aCancelledCheckpointLeavesTheWorkloadRunning(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    slowly(scenario, workload);
    CheckpointRequest request = CheckpointRequest.apply(scenario, "train-1", "trainer");
    request.await(CheckpointPhase.FREEZING);

    scenario.kubectl(
        "patch", "gckpt", "train-1", "--type=merge", "--patch", "{\"spec\":{\"cancel\":true}}");

    var status = request.await(CheckpointPhase.CANCELLED);
    assertThat(CheckpointRequest.condition(status, "SourceRunning").status()).isEqualTo(Truth.TRUE);
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  @Test
  void aSuspendedPodIsResumedBeforeItsCheckpointGoes(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "pause", "trainer", "afterCheckpoint: Suspend")
        .await(CheckpointPhase.SUSPENDED);

    scenario.kubectl("delete", "gckpt", "pause", Scenario.TIMEOUT);

    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    nothingIsLeft(scenario);
  }

  @Test
  void aReadyCheckpointTakesItsArtifactAlong(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();

    scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);

    workload.verifyGoesOn();
    nothingIsLeft(scenario);
    if (scenario.installation() instanceof LocalInstallation local) {
      assertThat(local.artifacts(scenario.namespace())).isEmpty();
    }
  }

  @Test
  void aRestoredPodStaysWhenItsRecordGoes(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    Workload back = workload.broughtBackAs("trainer");
    workload.delete();
    RestoreRequest.apply(scenario, "back", "train-1").awaitSucceeded();

    scenario.kubectl("delete", "grst", "back", Scenario.TIMEOUT);
    scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);

    Pod pod = back.now();
    assertThat(pod.getMetadata().getDeletionTimestamp()).isNull();
    assertThat(pod.getMetadata().getOwnerReferences()).isEmpty();
    back.verifyGoesOn();
  }

  @Test
  void aNamespaceWithWorkInFlightGoes(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    slowly(scenario, workload);
    CheckpointRequest.apply(scenario, "train-1", "trainer").await(CheckpointPhase.FREEZING);

    scenario.kubectl("delete", "namespace", scenario.namespace(), Scenario.TIMEOUT);

    nothingIsLeft(scenario);
  }

  private static void slowly(Scenario scenario, Workload workload) {
    Assumptions.assumeTrue(
        scenario.installation().simulated(), "skipped: only a simulated GPU is slow on demand");
    // Long enough to be seen at work, on any machine.
    scenario
        .installation()
        .fault(workload.now().getSpec().getNodeName(), "checkpoint", "slow 10000");
  }

  private static void nothingIsLeft(Scenario scenario) {
    scenario.until("operations of this namespace are gone", () -> scenario.operations().isEmpty());
  }
}
