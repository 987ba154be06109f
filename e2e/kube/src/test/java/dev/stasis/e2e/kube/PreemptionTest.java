package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.policy.Preemption;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Pods of low priority fill the cluster, one of high priority arrives. */
@ExtendWith(OnACluster.class)
class PreemptionTest {

  private static final int TIMES = Times.or(1);

  private static final List<String> RESTARTS = List.of("Always", "OnFailure", "Never");

  @Test
  void aPreemptedPodContinuesAfterEveryPreemption(Scenario scenario) {
    try (Priorities priorities = Priorities.make(scenario)) {
      StepFile file = new StepFile(scenario);
      int gpus = gpus(scenario);
      for (int i = 0; i < gpus; i++) {
        String restarts = RESTARTS.get(i % RESTARTS.size());
        Workload.start(
            scenario,
            "batch-" + i,
            pod -> file.in(priorities.low(pod)).editSpec().withRestartPolicy(restarts).endSpec());
      }
      scenario.apply(priorities.low(Workload.pod(scenario, "third", Workload.MIB)).build());
      // So that it is each one's turn: whoever came back last would yield next.
      priorities.watch((TIMES + gpus - 1) / gpus);
      for (int time = 1; time <= TIMES; time++) {
        makesRoom(scenario, priorities, "urgent-" + time);
      }
      assertThat(priorities.status().getBudgetUsed()).isEqualTo(TIMES);
      thirdStillWaits(scenario);
    }
  }

  private static int gpus(Scenario scenario) {
    return scenario.installation().nodes().stream()
        .map(node -> scenario.admin().nodes().withName(node).require().getStatus())
        .map(status -> status.getAllocatable().get("nvidia.com/gpu"))
        .mapToInt(gpus -> Present.in("allocatable", gpus).getNumericalAmount().intValue())
        .sum();
  }

  private static void makesRoom(Scenario scenario, Priorities priorities, String urgent) {
    scenario.apply(priorities.high(Workload.pod(scenario, urgent, Workload.MIB)).build());
    scenario.awaitPod(urgent, "runs", pod -> "Running".equals(pod.getStatus().getPhase()));
    Preemption made = Present.in("status.last", priorities.status().getLast()).get(0);
    assertThat(made.preemptor().name()).isEqualTo(urgent);
    List<ObjectReference> victims = Present.in("status.last[0].victims", made.victims());
    assertThat(victims).hasSize(1);
    String victim = victims.get(0).name();
    assertThat(victim).startsWith("batch-");
    thirdStillWaits(scenario);
    scenario.awaitEvent("Yields");
    scenario.awaitEvent("RoomBeingMade");

    // An urgent pod that lives for less than the way into the queue would leave its GPU to anybody.
    scenario.until(
        "the place of pod " + victim + " is kept",
        () -> {
          Pod target = scenario.findPod(victim);
          return target != null
              && !target.getMetadata().getUid().equals(victims.get(0).uid())
              && target.getStatus().getNominatedNodeName() != null;
        });
    scenario.kubectl("delete", "pod", urgent, Scenario.TIMEOUT);
    scenario.until("pod " + victim + " is back", () -> isBack(scenario, victims.get(0)));
    new StepFile(scenario).verifyCameBack(victim);
    thirdStillWaits(scenario);
    scenario.until(
        "the checkpoint of pod " + victim + " is gone",
        () -> scenario.all(GpuCheckpoint.class).isEmpty());
  }

  private static boolean isBack(Scenario scenario, ObjectReference victim) {
    Pod pod = scenario.findPod(victim.name());
    return pod != null && !pod.getMetadata().getUid().equals(victim.uid()) && StepFile.isReady(pod);
  }

  /** It is as important as those that yield, and has waited for longer. */
  private static void thirdStillWaits(Scenario scenario) {
    assertThat(scenario.pod("third").getSpec().getNodeName()).isNull();
  }

  @Tag("long")
  @Test
  void aClassThatLetsTheSchedulerPreemptIsNamed(Scenario scenario) {
    String rash = scenario.namespace() + "-rash";
    try (Priorities priorities = Priorities.make(scenario)) {
      scenario.apply(Priorities.priorityClass(rash, 4000, "PreemptLowerPriority"));
      priorities.watch();
      scenario.until(
          "the policy says that the scheduler preempts first",
          () -> priorities.reason().equals("SchedulerPreemptsFirst"));
      assertThat(priorities.status().getPreemptingClasses()).containsExactly(rash);
      scenario.kubectl("delete", "priorityclass", rash);
      scenario.until("the policy watches", () -> priorities.reason().equals("Watching"));
    } finally {
      scenario.tryKubectl("delete", "priorityclass", rash, "--ignore-not-found");
    }
  }
}
