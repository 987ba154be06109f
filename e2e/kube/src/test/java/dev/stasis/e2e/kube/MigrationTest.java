package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import java.io.IOException;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A running pod moves to another node, or goes on where it is. */
@ExtendWith(OnACluster.class)
class MigrationTest {

  /** So slow that a test can look, and take part, while the source is frozen. */
  private static final String SLOWLY = "options: {bandwidthLimit: 4Mi}";

  @Test
  void aPodMovesToTheOtherNodeAndBack(Scenario scenario) {
    scenario.needsTwoNodes();
    Workload there = Workload.start(scenario, "trainer");
    String first = there.now().getSpec().getNodeName();

    MigrationRequest off = MigrationRequest.apply(scenario, "move", "trainer", SLOWLY);
    Workload here = off.awaitMoving(there);
    GpuMigrationStatus status = off.await(MigrationPhase.SUCCEEDED);

    here.verifyGoesOn();
    assertThat(here.restarts()).isZero();
    assertThat(here.now().getSpec().getNodeName()).isNotEqualTo(first);
    assertThat(scenario.findPod("trainer")).isNull();
    assertThat(MigrationRequest.phases(status))
        .containsExactly(
            "Pending",
            "TargetStarting",
            "Freezing",
            "Transferring",
            "Restoring",
            "Verifying",
            "SwitchingOver",
            "Succeeded");
    assertThat(Present.in("status.commitment", status.getCommitment()).decision())
        .isEqualTo(Decision.SWITCH_OVER);
    Proof proof = Present.in("status.proof", status.getProof());
    assertThat(proof.gpuBytesFound()).isEqualTo(proof.gpuBytesWanted());
    assertThat(status.getDowntimeMilliseconds()).isPositive();
    assertThat(status.getBytes()).isPositive();
    assertThat(MigrationRequest.condition(status, "Succeeded").reason()).isEqualTo("Proven");
    scenario.awaitPod(here.name(), "is Ready", StepFile::isReady);
    noArtifacts(scenario);
    String[] table = scenario.kubectl("get", "gmig").split("\n");
    assertThat(table[0].split(" +"))
        .containsExactly("NAME", "POD", "FROM", "TO", "PHASE", "DONE", "DOWNTIME", "AGE", "REASON");
    assertThat(table[1].split(" +")).contains("move", "trainer", first, "Succeeded");
    System.out.println("downtime " + status.getDowntime() + " of " + status.getSize());

    MigrationRequest back = MigrationRequest.apply(scenario, "back", here.name(), SLOWLY);
    Workload again = back.awaitMoving(here);
    back.await(MigrationPhase.SUCCEEDED);
    again.verifyGoesOn();
    assertThat(again.restarts()).isZero();
    assertThat(again.now().getSpec().getNodeName()).isEqualTo(first);
    assertThat(again.name()).matches("trainer-[a-z0-9]{5}");
    assertThat(scenario.pods()).hasSize(1);
  }

  @Test
  void aTargetThatCannotTakeItLeavesTheSourceRunning(Scenario scenario) {
    scenario.needsTwoNodes();
    Workload workload = Workload.start(scenario, "trainer");
    String other = otherNode(scenario, workload);
    scenario.installation().fault(other, "restore", "error 2 always");

    GpuMigrationStatus status =
        MigrationRequest.apply(scenario, "move", "trainer").await(MigrationPhase.ROLLED_BACK);

    goesOn(scenario, workload);
    assertThat(status.getRolledBack()).isNotNull();
    assertThat(Present.in("status.rolledBack", status.getRolledBack()).phase())
        .isEqualTo(MigrationPhase.RESTORING);
    assertThat(MigrationRequest.condition(status, "RolledBack").status())
        .isEqualTo(ConditionValue.TRUE);
    assertThat(MigrationRequest.condition(status, "Failed").status())
        .isEqualTo(ConditionValue.TRUE);
    noArtifacts(scenario);
  }

  @Tag("long")
  @Test
  void aCancelDuringTheTransferLeavesTheSourceRunning(Scenario scenario) {
    scenario.needsTwoNodes();
    // Half a minute at the lowest rate, so that the cancel arrives during the transfer.
    Workload workload = Workload.start(scenario, "trainer", 32, UnaryOperator.identity());
    MigrationRequest off =
        MigrationRequest.apply(scenario, "move", "trainer", "options: {bandwidthLimit: 1Mi}");
    off.awaitEntered(MigrationPhase.TRANSFERRING);
    off.cancel();

    GpuMigrationStatus status = off.await(MigrationPhase.ROLLED_BACK);
    goesOn(scenario, workload);
    assertThat(Present.in("status.rolledBack", status.getRolledBack()).reason())
        .isEqualTo("Cancelled");
    assertThat(MigrationRequest.condition(status, "Failed").status())
        .isEqualTo(ConditionValue.UNKNOWN);
    noArtifacts(scenario);
  }

  @Tag("long")
  @Test
  void aTargetWhoseDiskIsFullLeavesTheSourceRunning(Scenario scenario) throws IOException {
    scenario.needsTwoNodes();
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: a small disk needs a node of this machine");
    Workload workload = Workload.start(scenario, "trainer");
    String other = otherNode(scenario, workload);
    ((LocalInstallation) scenario.installation()).smallDisk(other, scenario.namespace(), "2m");

    GpuMigrationStatus status =
        MigrationRequest.apply(scenario, "move", "trainer").await(MigrationPhase.ROLLED_BACK);

    goesOn(scenario, workload);
    assertThat(Present.in("status.rolledBack", status.getRolledBack()).message())
        .contains("the free space in the store");
    noArtifacts(scenario);
  }

  @Tag("long")
  @Test
  void aTransferContinuesAfterTheDeathOfAnAgent(Scenario scenario) {
    scenario.needsTwoNodes();
    Workload workload = Workload.start(scenario, "trainer");
    String other = otherNode(scenario, workload);
    MigrationRequest off = MigrationRequest.apply(scenario, "move", "trainer", SLOWLY);
    Workload moved = off.awaitMoving(workload);
    Component target = scenario.installation().agent(other);
    target.kill();
    scenario.installation().operator().kill();
    target.start();
    scenario.installation().operator().start();

    oneCopy(scenario, workload, moved, off.awaitEnd());
  }

  @Test
  void theAgentOfTheSourceMayDieWhileItIsHeld(Scenario scenario) {
    scenario.needsTwoNodes();
    Workload workload = Workload.start(scenario, "trainer");
    MigrationRequest off = MigrationRequest.apply(scenario, "move", "trainer", SLOWLY);
    Workload moved = off.awaitMoving(workload);
    Component source = scenario.installation().agent(workload.now().getSpec().getNodeName());
    source.kill();
    source.start();

    oneCopy(scenario, workload, moved, off.awaitEnd());
  }

  /** One of the two, whole: nothing lost, nothing doubled. */
  private static void oneCopy(
      Scenario scenario, Workload workload, Workload moved, GpuMigrationStatus status) {
    if (status.getPhase() == MigrationPhase.SUCCEEDED) {
      moved.verifyGoesOn();
      assertThat(moved.restarts()).isZero();
      assertThat(scenario.findPod(workload.name())).isNull();
      assertThat(scenario.pods()).hasSize(1);
    } else {
      assertThat(status.getPhase()).isEqualTo(MigrationPhase.ROLLED_BACK);
      goesOn(scenario, workload);
    }
    System.out.println(status.getPhase() + " " + status.getMessage());
    noArtifacts(scenario);
  }

  private static void goesOn(Scenario scenario, Workload workload) {
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    scenario.until("the target is gone", () -> scenario.pods().size() == 1);
  }

  private static void noArtifacts(Scenario scenario) {
    if (scenario.installation() instanceof LocalInstallation local) {
      // What an agent that was killed had begun to receive goes with its next look at the store.
      scenario.until(
          "no artifact is left",
          () ->
              local.artifacts(scenario.namespace()).stream()
                  .allMatch(path -> path.getFileName().toString().startsWith(".")));
    }
  }

  private static String otherNode(Scenario scenario, Workload workload) {
    String own = workload.now().getSpec().getNodeName();
    List<String> others =
        scenario.installation().nodes().stream().filter(node -> !node.equals(own)).toList();
    return others.get(0);
  }
}
