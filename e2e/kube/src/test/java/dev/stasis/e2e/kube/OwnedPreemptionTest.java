package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobStatus;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Pods of controllers fill a node, and yield to one of high priority: each comes back in the pod
 * that its controller makes in its place, time and again, and a pod that waits gets none of it.
 */
@ExtendWith(OnACluster.class)
class OwnedPreemptionTest {

  /** Once is enough to see that it works; a dozen seconds each. */
  private static final int TIMES = Times.or(1);

  @Tag("long")
  @Test
  void aPreemptedDeploymentNeverHasAnExtraPod(Scenario scenario) {
    try (Priorities priorities = Priorities.make(scenario);
        PodsSeen seen = PodsSeen.from(scenario)) {
      FullNode node = new FullNode(scenario, priorities);
      int gpus = node.gpus();
      scenario.apply(
          new Controllers(scenario).deployment(gpus, pod -> node.here(priorities.low(pod))));
      node.awaitFull();
      priorities.watch();

      for (int time = 1; time <= TIMES; time++) {
        node.makeRoom(time, 1);
        node.verifyStatus(time, 1);
        scenario.kubectl("rollout", "status", "deployment/trainer", Scenario.TIMEOUT);
      }

      assertThat(seen.most()).as("pods of the Deployment at once").isEqualTo(gpus);
      assertThat(seen.all())
          .as("its pods, one that waits, and each time the urgent one and one that is made")
          .isEqualTo(gpus + 1 + 2 * TIMES);
    }
  }

  @Tag("long")
  @Test
  void podsOfJobsArePreemptedWithoutAFailureInTheJob(Scenario scenario) {
    try (Priorities priorities = Priorities.make(scenario);
        PodsSeen seen = PodsSeen.from(scenario)) {
      FullNode node = new FullNode(scenario, priorities);
      int gpus = node.gpus();
      for (int i = 0; i < gpus; i++) {
        // One failure would fail it.
        Controllers controllers = new Controllers(scenario, "trainer-" + i);
        scenario.apply(
            controllers
                .job(i % 2 == 0 ? "Never" : "OnFailure", it -> node.here(priorities.low(it)))
                .build());
      }
      node.awaitFull();
      priorities.watch(TIMES);

      for (int time = 1; time <= TIMES; time++) {
        node.makeRoom(time, gpus);
        node.verifyStatus(time, gpus);
        for (int i = 0; i < gpus; i++) {
          JobStatus job = status(scenario, i);
          assertThat(job.getFailed()).isIn(null, 0);
          assertThat(job.getConditions()).isEmpty();
        }
      }

      assertThat(seen.most()).as("pods of the Jobs at once").isEqualTo(gpus);
      assertThat(seen.all())
          .as("their pods, one that waits, and each time the urgent one and their next pods")
          .isEqualTo(gpus + 1 + (1 + gpus) * TIMES);
      oftenEnough(scenario, priorities, node);
      endWell(scenario, node);
    }
  }

  /** Twice at least: whoever yields for the second time is one that came back under its name. */
  @Tag("long")
  @Test
  void podsOfAStatefulSetArePreemptedAndRestoredUnderTheirNames(Scenario scenario) {
    int times = Math.max(2, TIMES);
    try (Priorities priorities = Priorities.make(scenario);
        PodsSeen seen = PodsSeen.from(scenario)) {
      FullNode node = new FullNode(scenario, priorities);
      int gpus = node.gpus();
      scenario.apply(
          new Controllers(scenario).statefulSet(gpus, pod -> node.here(priorities.low(pod))));
      node.awaitFull();
      List<String> names = node.names();
      priorities.watch();

      for (int time = 1; time <= times; time++) {
        node.makeRoom(time, gpus);
        node.verifyStatus(time, gpus);
        assertThat(node.names()).isEqualTo(names);
      }

      assertThat(seen.most()).as("pods of the StatefulSet at once").isEqualTo(gpus);
      assertThat(seen.all())
          .as("its pods, one that waits, and each time the urgent one and their next pods")
          .isEqualTo(gpus + 1 + (1 + gpus) * times);
    }
  }

  /** Whoever came back under another name has yielded as often as it did under all of them. */
  private static void oftenEnough(Scenario scenario, Priorities priorities, FullNode node) {
    List<String> before = node.names();
    PodBuilder urgent = node.urgent("once-too-often", node.gpus());
    scenario.apply(urgent.build());
    scenario.until("nobody yields", () -> priorities.reason().equals("NoVictims"));
    assertThat(priorities.message())
        .contains("%d preempted too often in the last hour".formatted(node.gpus()));
    scenario.kubectl("delete", "pod", "once-too-often", Scenario.TIMEOUT);
    assertThat(node.names()).isEqualTo(before);
  }

  /** A Job is as good as ever: what ends well in a pod that came back is its end. */
  private static void endWell(Scenario scenario, FullNode node) {
    List<String> pods = node.names();
    pods.forEach(pod -> Workload.of(scenario, pod).finish());
    for (int i = 0; i < pods.size(); i++) {
      int job = i;
      scenario.until(
          "Job %d is complete".formatted(job),
          () -> Integer.valueOf(1).equals(status(scenario, job).getSucceeded()));
      assertThat(status(scenario, job).getFailed()).isIn(null, 0);
    }
  }

  private static JobStatus status(Scenario scenario, int index) {
    return Present.in("the Job", scenario.find(Job.class, "trainer-" + index)).getStatus();
  }
}
