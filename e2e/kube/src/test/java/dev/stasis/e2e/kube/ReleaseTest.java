package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The release of the chart, from the built images: used, replaced at work, and uninstalled. */
@ExtendWith(OnACluster.class)
@TestMethodOrder(OrderAnnotation.class)
class ReleaseTest {

  private ImageInstallation release(Scenario scenario) {
    return (ImageInstallation) scenario.installation();
  }

  @BeforeEach
  void onlyOfImages(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof ImageInstallation,
        "skipped: Stasis does not run from its images here; see bin/e2e --images");
  }

  @Test
  @Order(1)
  void aPodIsCheckpointedAndRestored(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    Workload back = workload.broughtBackAs("trainer");
    workload.delete();

    RestoreRequest.apply(scenario, "back", "train-1").awaitSucceeded();

    back.verifyGoesOn();
    assertThat(back.restarts()).isZero();
  }

  @Test
  @Order(1)
  void aPodMovesToTheOtherNode(Scenario scenario) {
    scenario.needsTwoNodes();
    Workload source = Workload.start(scenario, "trainer");
    String node = source.now().getSpec().getNodeName();

    MigrationRequest move =
        MigrationRequest.apply(scenario, "move", "trainer", "options: {bandwidthLimit: 4Mi}");
    Workload here = move.awaitMoving(source);
    move.await(MigrationPhase.SUCCEEDED);

    here.verifyGoesOn();
    assertThat(here.now().getSpec().getNodeName()).isNotEqualTo(node);
    assertThat(here.restarts()).isZero();
  }

  @Test
  @Order(2)
  void helmTestTriesOutANodeWithGpus(Scenario scenario) {
    ImageInstallation release = release(scenario);

    Helm.test(ImageInstallation.RELEASE)
        .withNamespace(release.namespace())
        .withKubeConfig(release.kubeconfig())
        .call();

    assertThat(scenario.kubectl("-n", release.namespace(), "logs", "stasis-test"))
        .contains("checkpointed: ")
        .contains("it continues at step")
        .endsWith("test: passed\n");
    // What it made is gone, the artifact too.
    assertThat(scenario.kubectl("-n", release.namespace(), "get", "gckpt,grst,role", "-o", "name"))
        .doesNotContain("stasis-test");
  }

  /** From the claim to the last step of the way back; a driver call takes its time meanwhile. */
  static Stream<String> steps() {
    return Stream.of(
        "claimed", "lock", "gpu-checkpoint", "dump", "gpu-restore", "unlock", "publish");
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("steps")
  @Order(3)
  void nothingIsLostWhenTheAgentIsReplacedAt(String step, Scenario scenario) {
    ImageInstallation release = release(scenario);
    Workload workload = Workload.start(scenario, "trainer");
    String node = workload.now().getSpec().getNodeName();
    for (String call : List.of("lock", "checkpoint", "restore", "unlock")) {
      // So that each step lasts until somebody has looked.
      release.fault(node, call, "slow 1500");
    }

    CheckpointRequest request = CheckpointRequest.apply(scenario, "train-1", "trainer");
    // A step may be over before it was seen: then a later one is as good.
    scenario.until("step " + step, () -> isAt(scenario, step) || isOver(request));
    release.replaceAgent(node);

    GpuCheckpointStatus status = request.awaitEnd();
    release.awaitAgent(node);
    release.clearFaults();
    assertThat(status.getPhase()).isIn(CheckpointPhase.READY, CheckpointPhase.FAILED);
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    // The next agent is as good as the one before.
    CheckpointRequest.apply(scenario, "train-2", "trainer").awaitReady();
    workload.verifyGoesOn();
  }

  @Tag("long")
  @Test
  @Order(4)
  void aSuspendedWorkloadStaysSuspendedWhileTheAgentIsReplaced(Scenario scenario) {
    ImageInstallation release = release(scenario);
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest pause =
        CheckpointRequest.apply(scenario, "pause", "trainer", "afterCheckpoint: Suspend");
    pause.await(CheckpointPhase.SUSPENDED);
    int printed = workload.someSteps().size();

    release.replaceAgent(workload.now().getSpec().getNodeName());
    release.awaitAgent(workload.now().getSpec().getNodeName());

    assertThat(workload.someSteps()).hasSize(printed);
    assertThat(pause.status().getPhase()).isEqualTo(CheckpointPhase.SUSPENDED);
    scenario.kubectl(
        "patch",
        "gckpt",
        "pause",
        "--type=merge",
        "--patch",
        "{\"spec\":{\"desiredState\":\"Running\"}}");
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  private static boolean isAt(Scenario scenario, String step) {
    return scenario.operations().stream()
        .map(GpuNodeOperation::getStatus)
        .filter(Objects::nonNull)
        .anyMatch(
            status ->
                step.equals("claimed")
                    ? status.getClaimedBy() != null
                    : step.equals(status.getStep()));
  }

  private static boolean isOver(CheckpointRequest request) {
    CheckpointPhase phase = request.status().getPhase();
    return phase != null && (phase == CheckpointPhase.READY || phase.isFinal());
  }

  /** Refused while the only copy of a workload lies in a store; the last but one. */
  @Tag("long")
  @Test
  @Order(10)
  void anUninstallIsRefusedWhileAWorkloadIsEvicted(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    Workload back = workload.broughtBackAs("trainer");
    CheckpointRequest.apply(scenario, "away", "trainer", "afterCheckpoint: Evict").awaitReady();
    scenario.until("the pod is gone", () -> scenario.findPod("trainer") == null);

    assertThatThrownBy(() -> uninstall(scenario)).hasMessageContaining("stasis-uninstall");

    assertThat(
            scenario.kubectl(
                "-n",
                scenario.installation().namespace(),
                "logs",
                "-l",
                "app.kubernetes.io/component=uninstall"))
        .contains("refused; nothing was changed")
        .contains("away");
    // The release is as it was: it brings the workload back.
    RestoreRequest.apply(scenario, "back", "away").awaitSucceeded();
    assertThat(back.now().getStatus().getPhase()).isEqualTo("Running");
  }

  /** The very last: afterwards there is no Stasis any more. */
  @Test
  @Order(11)
  void anUninstallResumesSuspendedWorkloadsFirst(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "pause", "trainer", "afterCheckpoint: Suspend")
        .await(CheckpointPhase.SUSPENDED);

    uninstall(scenario);

    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    assertThat(
            scenario
                .admin()
                .apps()
                .daemonSets()
                .inNamespace(scenario.installation().namespace())
                .withName("stasis-agent")
                .get())
        .isNull();
  }

  private void uninstall(Scenario scenario) {
    Helm.uninstall(ImageInstallation.RELEASE)
        .withNamespace(scenario.installation().namespace())
        .withKubeConfig(release(scenario).kubeconfig())
        .call();
  }
}
