package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuTurn;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Three pods on one GPU whose memory holds one of them. */
@ExtendWith(OnACluster.class)
class TurnsTest {

  /** Of the 64 MiB of a GPU: two of them never fit. */
  private static final int MIB = 40;

  private static final int PODS = 3;

  /** The first one is how it joined. */
  private static final int SUSPENSIONS = 3;

  @Tag("long")
  @Test
  void threeShareOneGpuAndEachMakesProgress(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation, "needs GPUs that can be shared");
    LocalInstallation installation = (LocalInstallation) scenario.installation();
    String node = installation.nodes().get(0);
    scenario.until("nobody else is on the GPUs of " + node, () -> others(scenario, node) == 0);
    int whole = gpus(scenario, node);
    installation.gpus(node).shared(PODS);
    try {
      List<Workload> workloads = join(scenario, node);
      takeTurns(scenario, installation, workloads);
      theDesiredStateOverridesTheQueue(scenario, workloads.get(0));
      theNextOneGoesWhenAPodIsDeleted(workloads);
    } finally {
      scenario.kubectl("delete", "gckpt", "--all", "--wait=false");
      scenario.kubectl("delete", "pods", "--all", Scenario.TIMEOUT);
      installation.gpus(node).whole();
      // Whoever comes next counts them.
      scenario.until("node " + node + " has its GPUs", () -> gpus(scenario, node) == whole);
    }
  }

  /** They cannot all start at once: each is suspended before the next one starts. */
  private static List<Workload> join(Scenario scenario, String node) {
    List<Workload> workloads = new ArrayList<>();
    for (int i = 0; i < PODS; i++) {
      Workload workload =
          Workload.start(
              scenario,
              "turn-" + i,
              MIB,
              pod -> pod.editSpec().addToNodeSelector("kubernetes.io/hostname", node).endSpec());
      request(scenario, workload, "afterCheckpoint: Suspend").await(CheckpointPhase.SUSPENDED);
      workloads.add(workload);
    }
    return workloads;
  }

  private static void takeTurns(
      Scenario scenario, LocalInstallation installation, List<Workload> workloads) {
    List<Integer> before = workloads.stream().map(workload -> workload.someSteps().size()).toList();
    workloads.forEach(
        workload -> patch(scenario, workload, "{\"options\":{\"timeSlice\":\"2s\"}}"));
    for (Workload workload : workloads) {
      scenario.until(
          workload.name() + " has had its turn twice",
          () -> suspensions(scenario, workload) >= SUSPENSIONS);
    }
    for (int i = 0; i < PODS; i++) {
      Workload workload = workloads.get(i);
      List<String> steps = workload.someSteps();
      assertThat(steps).hasSizeGreaterThan(before.get(i));
      assertThat(installation.wrongNumbers(steps, MIB)).isEmpty();
      assertThat(workload.restarts()).isZero();
    }
    assertThat(scenario.kubectl("get", "gckpt"))
        .containsAnyOf("HasTurn", "Suspended")
        .doesNotContain("Failed");
  }

  private static void theDesiredStateOverridesTheQueue(Scenario scenario, Workload wanted) {
    patch(scenario, wanted, "{\"desiredState\":\"Running\"}");
    scenario.until(
        wanted.name() + " runs on, and the others wait for it",
        () ->
            Objects.equals(turn(scenario, wanted).place(), 0)
                && phases(scenario) == PODS - 1
                && wanted.name().equals(turn(scenario, "turn-1").holder())
                && wanted.name().equals(turn(scenario, "turn-2").holder()));
    wanted.awaitSteps(3);
    assertThat(phases(scenario)).isEqualTo(PODS - 1);
  }

  private static void theNextOneGoesWhenAPodIsDeleted(List<Workload> all) {
    all.get(0).delete();
    all.get(1).awaitSteps(3);
    all.get(2).awaitSteps(3);
    assertThat(all.get(1).restarts() + all.get(2).restarts()).isZero();
  }

  private static CheckpointRequest request(Scenario scenario, Workload workload, String... more) {
    return CheckpointRequest.apply(scenario, workload.name(), workload.name(), more);
  }

  private static void patch(Scenario scenario, Workload workload, String spec) {
    scenario.kubectl(
        "patch",
        "gckpt",
        workload.name(),
        "--type=merge",
        "--patch",
        "{\"spec\":%s}".formatted(spec));
  }

  private static int suspensions(Scenario scenario, Workload workload) {
    return Objects.requireNonNullElse(
        new CheckpointRequest(scenario, workload.name()).status().getSuspensions(), 0);
  }

  private static GpuTurn turn(Scenario scenario, Workload workload) {
    return turn(scenario, workload.name());
  }

  private static GpuTurn turn(Scenario scenario, String name) {
    return Objects.requireNonNullElseGet(
        new CheckpointRequest(scenario, name).status().getTurn(),
        () -> new GpuTurn(null, null, null, null));
  }

  /** How many are suspended now. */
  private static long phases(Scenario scenario) {
    return List.of("turn-0", "turn-1", "turn-2").stream()
        .map(name -> new CheckpointRequest(scenario, name).status().getPhase())
        .filter(phase -> phase == CheckpointPhase.SUSPENDED)
        .count();
  }

  private static int gpus(Scenario scenario, String node) {
    Quantity gpus =
        scenario
            .admin()
            .nodes()
            .withName(node)
            .require()
            .getStatus()
            .getAllocatable()
            .get("nvidia.com/gpu");
    return gpus == null ? 0 : gpus.getNumericalAmount().intValue();
  }

  private static long others(Scenario scenario, String node) {
    return scenario.admin().pods().inAnyNamespace().list().getItems().stream()
        .filter(pod -> node.equals(pod.getSpec().getNodeName()))
        .filter(
            pod ->
                pod.getSpec().getContainers().stream()
                    .anyMatch(
                        it ->
                            it.getResources() != null
                                && it.getResources().getLimits() != null
                                && it.getResources().getLimits().containsKey("nvidia.com/gpu")))
        .count();
  }
}
