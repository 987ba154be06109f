package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A PodDisruptionBudget refuses a migration before the freeze, or it comes too late. */
@ExtendWith(OnACluster.class)
class BudgetTest {

  @Test
  void aBudgetRefusesBothMigrationStrategiesBeforeAnythingIsCreated(Scenario scenario) {
    scenario.needsTwoNodes();
    try (SharedStore store = SharedStore.make(scenario)) {
      Workload one = Workload.start(scenario, "one", BudgetTest::labelled);
      Workload two = Workload.start(scenario, "two", BudgetTest::labelled);
      budget(scenario, 2, 2);

      MigrationRequest first = MigrationRequest.apply(scenario, "first", one.name());
      MigrationRequest second =
          MigrationRequest.apply(
              scenario,
              "second",
              two.name(),
              "strategy: Recreate",
              "storageRef: {name: " + store.name() + "}");

      refused(first.await(MigrationPhase.FAILED));
      refused(second.await(MigrationPhase.FAILED));
      assertThat(scenario.pods()).hasSize(2);
      assertThat(scenario.all(GpuCheckpoint.class)).isEmpty();
      one.verifyGoesOn();
      two.verifyGoesOn();
      assertThat(one.restarts() + two.restarts()).isZero();
    }
  }

  /** The target is proven by then, and the source a frozen copy that never runs again. */
  @Tag("long")
  @Test
  void aBudgetThatComesAfterTheDecisionKeepsTheFrozenCopyForHalfAMinuteOnly(Scenario scenario) {
    scenario.needsTwoNodes();
    Assumptions.assumeTrue(
        scenario.installation().simulated(), "skipped: only a simulated GPU is slow on demand");
    Workload there = Workload.start(scenario, "trainer", BudgetTest::labelled);
    String source = there.now().getSpec().getNodeName();
    String target =
        scenario.installation().nodes().stream()
            .filter(node -> !node.equals(source))
            .findFirst()
            .orElseThrow();
    // Time for the budget to change; 10 s were probably too short on a busy machine.
    scenario.installation().fault(target, "restore", "slow 30000");
    // An eviction is refused from the moment in which a budget changes; a new one counts later.
    budget(scenario, 0, 1);

    MigrationRequest move = MigrationRequest.apply(scenario, "move", there.name());
    Workload here = move.awaitMoving(there);
    budget(scenario, 5, 1);
    GpuMigrationStatus refused =
        move.awaitStatus(
            "has decided, and the eviction is refused",
            status ->
                status.getCommitment() != null
                    && MigrationRequest.condition(status, "Succeeded")
                        .reason()
                        .equals("EvictionRefused"));

    assertThat(Present.in("status.commitment", refused.getCommitment()).decision())
        .isEqualTo(Decision.SWITCH_OVER);
    assertThat(there.now().getMetadata().getDeletionTimestamp()).isNull();
    move.await(MigrationPhase.SUCCEEDED);
    scenario.until("the source is gone", () -> scenario.findPod(there.name()) == null);
    scenario.awaitEvent("EvictionRefused");
    here.verifyGoesOn();
    assertThat(here.restarts()).isZero();
    assertThat(scenario.pods()).hasSize(1);
  }

  private static void refused(GpuMigrationStatus status) {
    assertThat(MigrationRequest.condition(status, "Failed").reason()).isEqualTo("EvictionRefused");
    assertThat(MigrationRequest.phases(status)).containsExactly("Pending", "Failed");
    assertThat(status.getMessage()).contains("disruption budget");
  }

  private static PodBuilder labelled(PodBuilder pod) {
    return pod.editMetadata().addToLabels("app", "trainer").endMetadata();
  }

  private static void budget(Scenario scenario, int minAvailable, int healthy) {
    scenario.apply(
        """
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata:
          name: keep
        spec:
          minAvailable: %d
          selector:
            matchLabels:
              app: trainer
        """
            .formatted(minAvailable));
    scenario.until(
        "the budget counts",
        () ->
            scenario.all(PodDisruptionBudget.class).stream()
                .allMatch(
                    it ->
                        it.getStatus().getCurrentHealthy() != null
                            && it.getStatus().getCurrentHealthy() >= healthy));
  }
}
