package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.common.ConditionValue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** {@code kubectl stasis doctor} on nodes that lack what they need. */
@ExtendWith(OnACluster.class)
class BrokenNodeTest {

  /** A start of a JVM each time. */
  private static final Duration LOOK = Duration.ofSeconds(2);

  private String node = "";

  @BeforeEach
  void onlyAgentsOfOurOwnAreBroken(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: agents that are no processes of this machine are not broken");
    List<String> nodes = scenario.installation().nodes();
    node = nodes.get(nodes.size() - 1);
  }

  @AfterEach
  void healed(Scenario scenario) {
    if (scenario.installation() instanceof LocalInstallation local) {
      local.restartAgent(node, Map.of());
      scenario.until("node " + node + " is Ready again", () -> isReady(scenario));
    }
  }

  @Tag("long")
  @Test
  void aMissingDriverAFailingCriuAndAFullDiskAreReported(Scenario scenario) {
    LocalInstallation local = (LocalInstallation) scenario.installation();
    local.restartAgent(
        node, Map.of("LD_LIBRARY_PATH", "/nonexistent", "STASIS_AGENT_CRIU", "/bin/false"));
    local.fullDisk(node);

    awaitFindings(
        "no driver: expected libcuda.so.1",
        "install NVIDIA driver 570 or newer",
        "criu version: expected a number",
        "use the agent's own image, which includes criu",
        "store local: expected a tenth of 1.0Mi free");
  }

  @Tag("long")
  @Test
  void anOldDriverAndAMissingCriuAreReported(Scenario scenario, @TempDir Path folder) {
    LocalInstallation local = (LocalInstallation) scenario.installation();
    Path old = folder.resolve("gpus");
    new Shell()
        .must(
            local.gpus(node).libraries().resolve("sim-gpu-node").toString(),
            old.toString(),
            "1",
            "64",
            "--driver",
            "550.54.15",
            "--cuda",
            "12040");
    assertThat(Files.isDirectory(old)).isTrue();
    local.restartAgent(
        node, Map.of("STASIS_SIM_GPU", old.toString(), "STASIS_AGENT_CRIU", "/nonexistent/criu"));

    awaitFindings(
        "driver: expected 570 or newer, got 550.54.15",
        "criu: ",
        "use the agent's own image, which includes criu");
  }

  @Test
  void anAgentThatDoesNotRunIsReported(Scenario scenario) {
    scenario.installation().agent(node).kill();
    scenario.kubectl("delete", "gpunode", node, Scenario.TIMEOUT);

    awaitFindings(
        "agent: expected a GpuNode for a node with GPUs, got none", "the node has no agent pod");
  }

  /** Waits until it says all of that about the node. */
  private void awaitFindings(String... words) {
    Awaitility.await("the doctor")
        .atMost(Scenario.PATIENCE)
        .pollInterval(LOOK)
        .untilAsserted(() -> assertThat(ofNode(doctor())).contains(words));
  }

  private static String doctor() {
    return new Shell()
        .run(
            "java",
            "-cp",
            System.getProperty("java.class.path"),
            "dev.stasis.kubectl.cli.KubectlStasis",
            "doctor")
        .output();
  }

  /** Lines about the node, and the advice beneath them. */
  private String ofNode(String findings) {
    StringBuilder ours = new StringBuilder();
    boolean about = false;
    for (String line : findings.lines().toList()) {
      about = line.startsWith("         ->") ? about : line.contains(" " + node + ": ");
      if (about) {
        ours.append(line).append('\n');
      }
    }
    return ours.toString();
  }

  private boolean isReady(Scenario scenario) {
    GpuNode found = scenario.admin().resources(GpuNode.class).withName(node).get();
    return found != null
        && found.getStatus() != null
        && found.getStatus().getConditions() != null
        && found.getStatus().getConditions().stream()
            .anyMatch(one -> one.type().equals("Ready") && one.status() == ConditionValue.TRUE);
  }
}
