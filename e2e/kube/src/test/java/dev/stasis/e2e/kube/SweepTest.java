package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The agent removes what an operator gave up to delete, and nothing else. */
@ExtendWith(OnACluster.class)
class SweepTest {

  private static final String MARK = ".goes-with-its-object-";

  @Test
  void anArtifactWhoseObjectWentWhileTheAgentWasAwayIsRemovedAndThoseToRetainStay(
      Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: agents that are no processes of this machine get no other settings");
    LocalInstallation local = (LocalInstallation) scenario.installation();
    Workload workload = Workload.start(scenario, "trainer");
    String node = workload.now().getSpec().getNodeName();
    try {
      local.restartAgent(node, Map.of("STASIS_AGENT_SWEEP_GRACE", "1s"));
      CheckpointRequest.apply(scenario, "goes", "trainer", "options: {deletionPolicy: Delete}")
          .awaitReady();
      CheckpointRequest.apply(scenario, "stays", "trainer", "options: {deletionPolicy: Retain}")
          .awaitReady();
      CheckpointRequest.apply(scenario, "kept", "trainer", "options: {deletionPolicy: Delete}")
          .awaitReady();
      // It sweeps soon after its start, and not again for minutes.
      local.restartAgent(node, Map.of("STASIS_AGENT_SWEEP_GRACE", "1s"));
      scenario.until("two marks", () -> marks(local, scenario).size() == 2);

      scenario.kubectl(
          "patch",
          "gckpt",
          "kept",
          "--type=merge",
          "-p",
          "{\"spec\":{\"options\":{\"deletionPolicy\":\"Retain\"}}}");
      scenario.kubectl("delete", "gckpt", "kept", Scenario.TIMEOUT);
      assertThat(marks(local, scenario)).hasSize(1);

      // An operator gives up once the agent has been silent for a quarter of an hour.
      local.agent(node).kill();
      local.operator().kill();
      for (String name : List.of("goes", "stays")) {
        scenario.kubectl("delete", "gckpt", name, "--wait=false");
        scenario.kubectl(
            "patch", "gckpt", name, "--type=merge", "-p", "{\"metadata\":{\"finalizers\":null}}");
      }
      scenario.until(
          "no objects",
          () ->
              scenario.find(GpuCheckpoint.class, "goes") == null
                  && scenario.find(GpuCheckpoint.class, "stays") == null);
      local.operator().start();
      local.agent(node).start();

      scenario.until("two artifacts", () -> local.artifacts(scenario.namespace()).size() == 2);
      assertThat(local.artifacts(scenario.namespace()))
          .noneMatch(artifact -> artifact.getFileName().toString().startsWith("goes"));
      workload.verifyGoesOn();
    } finally {
      local.operator().start();
      local.restartAgent(node, Map.of());
    }
  }

  private static List<Path> marks(LocalInstallation local, Scenario scenario) {
    return local.records(scenario.namespace()).stream()
        .filter(record -> record.getFileName().toString().startsWith(MARK))
        .toList();
  }
}
