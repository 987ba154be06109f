package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Operator and agent are killed at each phase: it ends well or it ends undone, with the workload
 * running; it is never stuck and never done twice.
 */
@ExtendWith(OnACluster.class)
class KilledTest {

  @ParameterizedTest
  @CsvSource({"operator, SAVING", "agent, FREEZING"})
  void aCheckpointSurvives(String killed, CheckpointPhase during, Scenario scenario) {
    checkpointed(killed, during, scenario);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({
    "operator, PENDING",
    "operator, FREEZING",
    "operator, RESUMING",
    "agent, PENDING",
    "agent, SAVING",
    "agent, RESUMING"
  })
  void aCheckpointSurvivesAtEveryOtherPhase(
      String killed, CheckpointPhase during, Scenario scenario) {
    checkpointed(killed, during, scenario);
  }

  private static void checkpointed(String killed, CheckpointPhase during, Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    String node = workload.now().getSpec().getNodeName();
    slow(scenario, node, "checkpoint");
    slow(scenario, node, "restore");
    Component victim = victim(scenario, killed, node);

    CheckpointRequest request = CheckpointRequest.apply(scenario, "train-1", "trainer");
    // A phase may be over before it was seen: then the next one is as good.
    scenario.until(
        "a phase not before " + during,
        () ->
            request.status().getPhase() != null
                && request.status().getPhase().compareTo(during) >= 0);
    victim.kill();
    victim.start();

    GpuCheckpointStatus status = request.awaitEnd();
    if (killed.equals("operator")) {
      // The agent completes an operation without it.
      assertThat(status.getPhase()).isEqualTo(CheckpointPhase.READY);
    } else {
      assertThat(status.getPhase()).isIn(CheckpointPhase.READY, CheckpointPhase.FAILED);
    }
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    assertThat(operations(scenario, OperationType.CHECKPOINT)).hasSizeLessThanOrEqualTo(1);
    if (status.getPhase() == CheckpointPhase.READY) {
      Workload back = workload.broughtBackAs("trainer");
      workload.delete();
      RestoreRequest.apply(scenario, "back", "train-1").awaitSucceeded();
      back.verifyGoesOn();
    }
  }

  @ParameterizedTest
  @CsvSource("agent, RESTORING")
  void aRestoreSurvives(String killed, RestorePhase during, Scenario scenario) {
    restored(killed, during, scenario);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({
    "operator, PENDING",
    "operator, STARTING",
    "operator, RESTORING",
    "operator, VERIFYING",
    "agent, PENDING",
    "agent, STARTING",
    "agent, VERIFYING"
  })
  void aRestoreSurvivesAtEveryOtherPhase(String killed, RestorePhase during, Scenario scenario) {
    restored(killed, during, scenario);
  }

  private static void restored(String killed, RestorePhase during, Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    String node = workload.now().getSpec().getNodeName();
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    Workload back = workload.broughtBackAs("trainer");
    workload.delete();
    slow(scenario, node, "restore");
    Component victim = victim(scenario, killed, node);

    RestoreRequest request = RestoreRequest.apply(scenario, "back", "train-1");
    scenario.until(
        "a phase not before " + during,
        () ->
            request.status().getPhase() != null
                && request.status().getPhase().compareTo(during) >= 0);
    victim.kill();
    victim.start();

    GpuRestoreStatus status = request.awaitEnd();
    if (killed.equals("operator")) {
      assertThat(status.getPhase()).isEqualTo(RestorePhase.SUCCEEDED);
    } else {
      assertThat(status.getPhase()).isIn(RestorePhase.SUCCEEDED, RestorePhase.FAILED);
    }
    assertThat(scenario.pods()).hasSizeLessThanOrEqualTo(1);
    if (status.getPhase() == RestorePhase.FAILED) {
      // The checkpoint is as it was: it can be tried again.
      scenario.until("the failed target is gone", () -> scenario.findPod("trainer") == null);
      RestoreRequest.apply(scenario, "again", "train-1").awaitSucceeded();
    }
    back.verifyGoesOn();
    assertThat(back.restarts()).isZero();
  }

  private static void slow(Scenario scenario, String node, String call) {
    if (scenario.installation().simulated()) {
      // So that the phase lasts until somebody has looked.
      scenario.installation().fault(node, call, "slow 2500");
    }
  }

  private static Component victim(Scenario scenario, String who, String node) {
    return who.equals("operator")
        ? scenario.installation().operator()
        : scenario.installation().agent(node);
  }

  private static List<GpuNodeOperation> operations(Scenario scenario, OperationType type) {
    return scenario.operations().stream().filter(each -> each.getSpec().getType() == type).toList();
  }
}
