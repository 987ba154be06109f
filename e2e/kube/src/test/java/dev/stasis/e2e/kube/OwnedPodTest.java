package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Pods of controllers. The pod that one makes in the place of an evicted pod is the target of the
 * restore; a target of a migration is taken in the place of the source. There is never a third.
 */
@ExtendWith(OnACluster.class)
class OwnedPodTest {

  @Tag("long")
  @Test
  void aDeploymentsPodIsRestoredIntoItsReplacement(Scenario scenario) {
    evictedAndBack(scenario, new Controllers(scenario).deployment(1, UnaryOperator.identity()));
    scenario.kubectl("rollout", "status", "deployment/trainer", Scenario.TIMEOUT);
  }

  @Tag("long")
  @Test
  void aStatefulSetsPodIsRestoredUnderItsName(Scenario scenario) {
    Workload back = evictedAndBack(scenario, new Controllers(scenario).statefulSet());
    assertThat(back.name()).isEqualTo("trainer-0");
  }

  @Test
  void aJobsPodIsRestoredWithoutAFailureInTheJob(Scenario scenario) {
    Job job =
        new Controllers(scenario)
            .job("Never")
            .editSpec()
            .withPodReplacementPolicy("Failed")
            .withNewPodFailurePolicy()
            .addNewRule()
            .withAction("FailJob")
            .withNewOnExitCodes()
            .withOperator("NotIn")
            .withValues(0)
            .endOnExitCodes()
            .endRule()
            .endPodFailurePolicy()
            .endSpec()
            .build();
    evictedAndBack(scenario, job);
    nothingFailed(scenario);
  }

  @Tag("long")
  @Test
  void anIndexedPodIsRestoredWithItsIndex(Scenario scenario) {
    Workload back = evictedAndBack(scenario, indexed(scenario));
    assertThat(back.now().getMetadata().getAnnotations())
        .containsEntry("batch.kubernetes.io/job-completion-index", "0");
    nothingFailed(scenario);
  }

  @Test
  void aDeploymentAdoptsItsMigratedPod(Scenario scenario) {
    moved(scenario, new Controllers(scenario).deployment(1, UnaryOperator.identity()));
    scenario.kubectl("rollout", "status", "deployment/trainer", Scenario.TIMEOUT);
  }

  @Tag("long")
  @Test
  void aJobAdoptsItsMigratedPodWithoutAFailure(Scenario scenario) {
    Workload here = moved(scenario, indexed(scenario));
    assertThat(here.now().getMetadata().getAnnotations())
        .containsEntry("batch.kubernetes.io/job-completion-index", "0");
    nothingFailed(scenario);
    // It still does what a Job does: the pod that ends well is its end.
    here.finish();
    scenario.until(
        "the Job is complete", () -> scenario.kubectl("get", "job", "trainer").contains("1/1"));
  }

  private static Job indexed(Scenario scenario) {
    return new Controllers(scenario)
        .job("OnFailure")
        .editSpec()
        .withCompletionMode("Indexed")
        .withCompletions(1)
        .withParallelism(1)
        .endSpec()
        .build();
  }

  private static Workload evictedAndBack(Scenario scenario, HasMetadata controller) {
    try (PodsSeen seen = PodsSeen.from(scenario)) {
      Workload workload = started(scenario, controller);
      String first = workload.name();
      try (KeptLog log = KeptLog.follow(scenario, first)) {
        CheckpointRequest.apply(scenario, "save", first, "afterCheckpoint: Evict").awaitReady();
        List<String> printed = log.lines();
        scenario.until(
            "a pod in its place that waits",
            () -> scenario.pods().stream().anyMatch(OwnedPodTest::isGated));

        GpuRestoreStatus status = RestoreRequest.apply(scenario, "back", "save").awaitSucceeded();
        Workload back = workload.broughtBackAs(RestoreRequest.pod(status), printed);
        back.verifyGoesOn();
        onlyOne(scenario, seen, back);
        return back;
      }
    }
  }

  private static Workload moved(Scenario scenario, HasMetadata controller) {
    scenario.needsTwoNodes();
    try (PodsSeen seen = PodsSeen.from(scenario)) {
      Workload there = started(scenario, controller);
      String node = there.now().getSpec().getNodeName();
      MigrationRequest off =
          MigrationRequest.apply(scenario, "move", there.name(), "options: {bandwidthLimit: 4Mi}");
      Workload here = off.awaitMoving(there);
      GpuMigrationStatus status = off.await(MigrationPhase.SUCCEEDED);
      assertThat(status.getDowntimeMilliseconds()).isPositive();
      here.verifyGoesOn();
      assertThat(here.now().getSpec().getNodeName()).isNotEqualTo(node);
      onlyOne(scenario, seen, here);
      return here;
    }
  }

  private static Workload started(Scenario scenario, HasMetadata controller) {
    scenario.apply(controller);
    scenario.until("a pod", () -> scenario.pods().size() == 1);
    return Workload.of(scenario, scenario.pods().get(0).getMetadata().getName());
  }

  private static void onlyOne(Scenario scenario, PodsSeen seen, Workload workload) {
    scenario.awaitPod(workload.name(), "is Ready", StepFile::isReady);
    assertThat(scenario.pods()).hasSize(1);
    assertThat(workload.restarts()).isZero();
    assertThat(workload.now().getMetadata().getOwnerReferences()).hasSize(1);
    assertThat(seen.most()).as("pods of the controller at once").isEqualTo(1);
    assertThat(seen.all()).as("the source, the target, and no third").isEqualTo(2);
  }

  private static void nothingFailed(Scenario scenario) {
    Job job = Present.in("the Job", scenario.find(Job.class, "trainer"));
    assertThat(job.getStatus().getFailed()).isIn(null, 0);
    assertThat(job.getStatus().getConditions()).isEmpty();
  }

  private static boolean isGated(Pod pod) {
    return !pod.getSpec().getSchedulingGates().isEmpty();
  }
}
