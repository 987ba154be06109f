package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.policy.GpuPreemptionPolicyStatus;
import dev.stasis.api.v1beta1.policy.Preemption;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.stream.Stream;

/**
 * One node whose GPUs pods of controllers have, all of low priority; one node is enough, and half
 * as busy. Another pod waits for the same GPUs.
 */
record FullNode(Scenario scenario, Priorities priorities) {

  /** The policy's status keeps so many. */
  private static final int KEPT = 20;

  /** As important as those that yield, and waits for longer than they are away. */
  private static final String THIRD = "third";

  private String node() {
    return scenario.installation().nodes().get(0);
  }

  int gpus() {
    return Present.in(
            "allocatable",
            scenario
                .admin()
                .nodes()
                .withName(node())
                .require()
                .getStatus()
                .getAllocatable()
                .get("nvidia.com/gpu"))
        .getNumericalAmount()
        .intValue();
  }

  /** That pod, on this node, with a file of its steps. */
  PodBuilder here(PodBuilder pod) {
    return new StepFile(scenario)
        .in(pod)
        .editSpec()
        .addToNodeSelector("kubernetes.io/hostname", node())
        .endSpec();
  }

  /** Waits until every GPU is somebody's, and lets one more pod wait for one. */
  void awaitFull() {
    scenario.until("all pods run", () -> ready() == gpus());
    names().forEach(name -> Workload.of(scenario, name));
    PodBuilder third = priorities.low(here(Workload.pod(scenario, THIRD, Workload.MIB)));
    scenario.apply(third.build());
  }

  /** A pod of high priority that wants so many of its GPUs. */
  PodBuilder urgent(String name, int gpus) {
    return priorities
        .high(here(Workload.pod(scenario, name, Workload.MIB)))
        .editSpec()
        .editFirstContainer()
        .editResources()
        .addToLimits("nvidia.com/gpu", new Quantity(Integer.toString(gpus)))
        .endResources()
        .endContainer()
        .endSpec();
  }

  /**
   * An urgent pod gets so many GPUs, and goes again: whoever yielded goes on in another pod where
   * it was, and everybody else has seen nothing of it.
   */
  void makeRoom(int time, int gpus) {
    List<Runner> before = runners();
    String urgent = name(time);
    scenario.apply(urgent(urgent, gpus).build());
    scenario.awaitPod(urgent, "runs", pod -> "Running".equals(pod.getStatus().getPhase()));
    scenario.until(
        "the place of whoever yielded is kept",
        () -> own().filter(pod -> pod.getStatus().getNominatedNodeName() != null).count() == gpus);
    scenario.kubectl("delete", "pod", urgent, Scenario.TIMEOUT);
    // The checkpoint of one that is back goes.
    scenario.until(
        "whoever yielded is back",
        () -> ready() == gpus() && scenario.all(GpuCheckpoint.class).isEmpty());

    List<Runner> after = runners();
    List<Runner> gone = before.stream().filter(it -> !it.isAmong(after)).toList();
    List<Runner> back = after.stream().filter(it -> !it.isAmong(before)).toList();
    assertThat(gone).as("pods that yielded").hasSize(gpus);
    assertThat(back).as("pods in their place").hasSize(gpus);
    for (Runner one : back) {
      new StepFile(scenario).verifyCameBack(one.pod());
      Runner was = formerOf(one, gone);
      assertThat(one.steps()).as("steps of " + one + " after " + was).isGreaterThan(was.steps());
    }
    assertThat(scenario.pod(THIRD).getSpec().getNodeName()).as("node of the third").isNull();
  }

  /** A StatefulSet has several pods, each under a name that stays; the others one owner each. */
  private static Runner formerOf(Runner one, List<Runner> gone) {
    List<Runner> siblings = gone.stream().filter(one::hasTheOwnerOf).toList();
    return siblings.stream()
        .filter(it -> it.pod().equals(one.pod()))
        .findFirst()
        .orElseGet(() -> siblings.get(0));
  }

  private static String name(int time) {
    return "urgent-" + time;
  }

  /** The policy counts what happened, no more and no less, once everybody is back. */
  void verifyStatus(int times, int victims) {
    scenario.until(
        "the policy says that all was done",
        () ->
            priorities.reason().equals("Watching")
                && Integer.valueOf(0).equals(priorities.status().getEvicted())
                && Integer.valueOf(gpus()).equals(priorities.status().getCandidates())
                && "PreemptorPlaced".equals(last().reason()));
    GpuPreemptionPolicyStatus status = priorities.status();
    assertThat(status.getBudgetUsed()).isEqualTo(times * victims);
    assertThat(status.getWaiting()).isZero();
    assertThat(status.getCandidates()).isEqualTo(gpus());
    assertThat(status.getLast()).hasSize(Math.min(times, KEPT));
    assertThat(last().preemptor().name()).isEqualTo(name(times));
    List<ObjectReference> yielded = Present.in("status.last[0].victims", last().victims());
    assertThat(yielded).hasSize(victims);
    assertThat(uids()).doesNotContainAnyElementsOf(uids(yielded));
    assertThat(restores())
        .hasSize(times * victims)
        .allMatch(it -> it.getStatus().getPhase() == RestorePhase.SUCCEEDED);
    for (String reason : List.of("OperationFailed", "PreflightRefused")) {
      assertThat(
              scenario.kubectl(
                  "get",
                  "events",
                  "--field-selector=reason=" + reason,
                  "-o",
                  "jsonpath={.items[*].message}"))
          .as("what failed on the way")
          .isBlank();
    }
  }

  private Preemption last() {
    return Present.in("status.last", priorities.status().getLast()).get(0);
  }

  private List<GpuRestore> restores() {
    return scenario
        .admin()
        .resources(GpuRestore.class)
        .inNamespace(scenario.namespace())
        .list()
        .getItems();
  }

  private static List<String> uids(List<ObjectReference> references) {
    return references.stream().map(ObjectReference::uid).toList();
  }

  /** Of a StatefulSet the next pod has the name of the one before. */
  private List<String> uids() {
    return own().map(pod -> pod.getMetadata().getUid()).toList();
  }

  /** Names of the pods that controllers have. */
  List<String> names() {
    return own().map(pod -> pod.getMetadata().getName()).sorted().toList();
  }

  private long ready() {
    return own().filter(StepFile::isReady).count();
  }

  private Stream<Pod> own() {
    return scenario.pods().stream()
        .filter(pod -> !pod.getMetadata().getOwnerReferences().isEmpty());
  }

  private List<Runner> runners() {
    StepFile file = new StepFile(scenario);
    return own()
        .map(
            pod -> {
              String name = pod.getMetadata().getName();
              String owner = pod.getMetadata().getOwnerReferences().get(0).getUid();
              return new Runner(name, pod.getMetadata().getUid(), owner, file.verify(name));
            })
        .toList();
  }

  /**
   * A pod that runs.
   *
   * @param uid its own
   * @param owner uid of its controller
   * @param steps that it has made since its very first start, all of them right
   */
  private record Runner(String pod, String uid, String owner, long steps) {

    boolean isAmong(List<Runner> others) {
      return others.stream().anyMatch(other -> other.uid.equals(uid));
    }

    boolean hasTheOwnerOf(Runner other) {
      return owner.equals(other.owner);
    }
  }
}
