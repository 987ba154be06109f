package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A pod with the label of the direct data path gets the library by the webhook. It is checkpointed
 * in place, evicted and restored on that path, and loses nothing when a keeper dies or is missing.
 */
@ExtendWith(OnACluster.class)
class DirectDataPathTest {

  private static final String LABEL = "stasis.dev/data-path";

  @Test
  void aLabelledPodIsCheckpointedEvictedAndRestored(Scenario scenario) {
    Workload workload = labelled(scenario, Workload.MIB);
    for (String name : new String[] {"train-1", "train-2"}) {
      assertDirect(CheckpointRequest.apply(scenario, name, "trainer").awaitReady());
      workload.verifyGoesOn();
    }
    assertThat(workload.restarts()).isZero();
    try (KeptLog log = KeptLog.follow(scenario, "trainer")) {
      assertDirect(
          CheckpointRequest.apply(scenario, "away", "trainer", "afterCheckpoint: Evict")
              .awaitReady());
      scenario.until("the pod is gone", () -> scenario.findPod("trainer") == null);
      Workload back = workload.broughtBackAs("trainer", log.lines());
      RestoreRequest.apply(scenario, "back", "away").awaitSucceeded();
      back.verifyGoesOn();

      assertDirect(CheckpointRequest.apply(scenario, "train-3", "trainer").awaitReady());
      back.verifyGoesOn();
      assertThat(back.restarts()).isZero();
      // The second generation is restored as well, from a checkpoint in place.
      Workload again = back.broughtBackAs("trainer");
      back.delete();
      RestoreRequest.apply(scenario, "again", "train-3").awaitSucceeded();
      again.verifyGoesOn();
    }
  }

  @Test
  void aLabelledPodIsMigratedThereAndBack(Scenario scenario) {
    scenario.needsTwoNodes();
    Workload workload = labelled(scenario, Workload.MIB);
    String first = workload.now().getSpec().getNodeName();

    MigrationRequest off = MigrationRequest.apply(scenario, "move", "trainer");
    Workload there = off.awaitMoving(workload);
    off.await(MigrationPhase.SUCCEEDED);
    there.verifyGoesOn();
    assertThat(there.now().getSpec().getNodeName()).isNotEqualTo(first);

    MigrationRequest back = MigrationRequest.apply(scenario, "back", there.name());
    Workload again = back.awaitMoving(there);
    back.await(MigrationPhase.SUCCEEDED);
    again.verifyGoesOn();
    assertThat(again.restarts()).isZero();
    assertThat(again.now().getSpec().getNodeName()).isEqualTo(first);
  }

  @Tag("long")
  @Test
  void aSuspendedPodSaysItsPathAndContinues(Scenario scenario) {
    Workload workload = labelled(scenario, Workload.MIB);
    CheckpointRequest nap =
        CheckpointRequest.apply(scenario, "nap", "trainer", "afterCheckpoint: Suspend");
    assertDirect(nap.await(CheckpointPhase.SUSPENDED));
    scenario.kubectl(
        "patch", "gckpt", "nap", "--type=merge", "-p", "{\"spec\":{\"desiredState\":\"Running\"}}");
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"serve", "hold"})
  void aKilledKeeperLosesNothing(String victim, Scenario scenario) throws IOException {
    LocalInstallation local = local(scenario);
    Workload workload = labelled(scenario, Workload.MIB);
    SimulatedNode gpus = local.gpus(workload.now().getSpec().getNodeName());
    gpus.fault("checkpoint", "hold");

    CheckpointRequest request = CheckpointRequest.apply(scenario, "train-1", "trainer");
    gpus.awaitHeld("checkpoint");
    gpus.killKeepers(victim);
    gpus.release("checkpoint");

    // Without the keeper's copy there may be no artifact, but the workload is there.
    assertThat(request.awaitEnd().getPhase()).isIn(CheckpointPhase.READY, CheckpointPhase.FAILED);
    workload.verifyGoesOn();
    assertDirect(CheckpointRequest.apply(scenario, "train-2", "trainer").awaitReady());
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  @Tag("long")
  @Test
  void aPodForWhichItsGpuHasNoRoomIsToldAndTakesTheDriversPath(Scenario scenario) {
    // Of 64 MiB: a second copy of its one allocation does not fit.
    Workload workload = labelled(scenario, 40);

    GpuCheckpointStatus told =
        CheckpointRequest.apply(scenario, "why", "trainer", "options: {dryRun: true}")
            .await(CheckpointPhase.EXPLAINED);
    Explanation explanation = Present.in("status.explanation", told.getExplanation());
    assertThat(explanation.dataPath()).isEqualTo(DataPath.MOVER);
    assertThat(explanation.dataPathReason()).startsWith("not direct: free memory of GPU");

    GpuCheckpointStatus status =
        CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    assertThat(status.getDataPath()).isEqualTo(DataPath.MOVER);
    assertThat(status.getDataPathReason()).contains("not direct: free memory of GPU");
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  @Test
  void withoutAKeeperAPodWithTheLibraryIsRefused(Scenario scenario) {
    LocalInstallation local = local(scenario);
    Workload workload = labelled(scenario, Workload.MIB);
    String node = workload.now().getSpec().getNodeName();
    try {
      local.restartAgent(node, Map.of("STASIS_AGENT_KEEPER", "/nonexistent/stasis-keeper"));
      GpuCheckpointStatus refused =
          CheckpointRequest.apply(scenario, "train-1", "trainer").await(CheckpointPhase.FAILED);
      assertThat(CheckpointRequest.faults(refused).toString())
          .contains("direct data path", "expected stasis-keeper on this node, got none");
      workload.verifyGoesOn();
    } finally {
      local.restartAgent(node, Map.of());
    }
    assertDirect(CheckpointRequest.apply(scenario, "train-2", "trainer").awaitReady());
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  private static void assertDirect(GpuCheckpointStatus status) {
    assertThat(status.getDataPath()).as(status.getDataPathReason()).isEqualTo(DataPath.DIRECT);
  }

  /** A pod of a labelled namespace, once the webhook has changed it. */
  private static Workload labelled(Scenario scenario, int mib) {
    scenario.label(Map.of(LABEL, "direct"));
    // The operator may have started a moment ago, and a pod never fails for want of the webhook.
    String pod = Serialization.asYaml(Workload.pod(scenario, "trainer", mib).build());
    scenario.until(
        "the webhook adds the library",
        () ->
            scenario
                .feedKubectl(pod, "create", "--dry-run=server", "-o", "yaml", "-f", "-")
                .output()
                .contains("libstasis-gate.so"));
    return Workload.start(scenario, "trainer", mib, UnaryOperator.identity());
  }

  private static LocalInstallation local(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: it reaches into processes of this machine; run bin/e2e without --images");
    return (LocalInstallation) scenario.installation();
  }
}
