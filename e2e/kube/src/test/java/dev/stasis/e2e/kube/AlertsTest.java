package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each alert of the chart fires in the situation of its runbook, the first time that it happens,
 * and ends with it. It runs before the other scenarios, while all counters are 0.
 */
@ExtendWith(OnACluster.class)
@Order(OnACluster.FIRST + 1)
@Tag("long")
@Tag(OnACluster.ALERTS)
class AlertsTest {

  private Scenario scenario;
  private AlertRecord alerts;
  private LocalInstallation local;
  private String node;

  @BeforeEach
  void onlyComponentsOfOurOwnAreEnded(Scenario scenario, AlertRecord alerts) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: operator and agents that are no processes of this machine are not ended");
    this.scenario = scenario;
    this.alerts = alerts;
    local = (LocalInstallation) scenario.installation();
    node = local.nodes().get(0);
  }

  @Test
  void workloadLost() {
    Workload workload = start(pod -> pod);
    String uid = workload.now().getMetadata().getUid();
    local.fault(node, "checkpoint", "hold");
    CheckpointRequest request = CheckpointRequest.apply(scenario, "train-1", "trainer");
    local.gpus(node).awaitHeld("checkpoint");

    alerts.begins("WorkloadLost");
    new ContainerProcesses(uid).kill();

    request.awaitEnd();
    firesAndEnds("WorkloadLost");
  }

  @Test
  void notThawed() {
    whileTheDriverRestoresNothing("NotThawed");
  }

  /** A freeze that is in progress ends earlier: each step has a limit. */
  @Test
  void frozenTooLong() {
    whileTheDriverRestoresNothing("FrozenTooLong");
  }

  @Test
  void gpuQuarantined() {
    whileTheDriverRestoresNothing("GpuQuarantined");
  }

  private void whileTheDriverRestoresNothing(String alert) {
    Workload workload = start(pod -> pod);
    local.fault(node, "unlock", "error 999 always");

    alerts.begins(alert);
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitEnd();

    alerts.awaitFiring(alert);
    local.clearFaults();
    alerts.awaitEnd(alert);
    workload.verifyGoesOn();
  }

  @Test
  void frozenWithoutAgent(@TempDir Path folder) throws IOException {
    Workload workload = start(pod -> pod);
    CheckpointRequest request;
    try {
      holdDumps(folder);
      request = CheckpointRequest.apply(scenario, "train-1", "trainer");
      scenario.until("the dump is held", () -> Files.exists(folder.resolve("held")));
      request.await(CheckpointPhase.SAVING);

      alerts.begins("FrozenWithoutAgent");
      local.agent(node).kill();

      alerts.awaitFiring("FrozenWithoutAgent");
    } finally {
      local.restartAgent(node, Map.of());
    }
    alerts.awaitEnd("FrozenWithoutAgent");
    request.awaitEnd();
    workload.verifyGoesOn();
  }

  @Test
  void coldStart() {
    Workload workload = start(pod -> pod);
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    Workload back = workload.broughtBackAs("trainer");
    workload.delete();
    RestoreRequest.apply(scenario, "back", "train-1").awaitSucceeded();
    back.awaitSteps(2);

    alerts.begins("ColdStart");
    back.kill();

    firesAndEnds("ColdStart");
  }

  @Test
  void restoreWithoutNode() {
    Workload workload = start(pod -> pod);
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    workload.delete();
    scenario.kubectl("cordon", node);
    try {
      alerts.begins("RestoreWithoutNode");
      RestoreRequest request = RestoreRequest.apply(scenario, "back", "train-1");

      alerts.awaitFiring("RestoreWithoutNode");
      scenario.kubectl("uncordon", node);
      request.await(RestorePhase.SUCCEEDED);
      alerts.awaitEnd("RestoreWithoutNode");
    } finally {
      scenario.kubectl("uncordon", node);
    }
  }

  @Test
  void noRecentCheckpoint() {
    start(AlertsTest::labelled);
    local.fault(node, "lock", "error 999 always");

    alerts.begins("NoRecentCheckpoint");
    new Often(scenario).apply("");

    alerts.awaitFiring("NoRecentCheckpoint");
    local.clearFaults();
    alerts.awaitEnd("NoRecentCheckpoint");
  }

  /** A webhook of another product that does not answer: the operator can write no status. */
  @Test
  void scheduleNotRunning() {
    new Often(scenario).apply("");
    scenario.until(
        "the next run is known", () -> !new Often(scenario).says(".status").equals("{}"));
    scenario.label(Map.of("stasis.test/refused", "yes"));
    scenario.apply(
        """
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingWebhookConfiguration
        metadata: {name: refuses-schedules}
        webhooks:
        - name: refuses.stasis.test
          clientConfig: {url: "https://127.0.0.1:1"}
          failurePolicy: Fail
          sideEffects: None
          admissionReviewVersions: [v1]
          namespaceSelector: {matchLabels: {stasis.test/refused: "yes"}}
          rules:
          - apiGroups: [stasis.dev]
            apiVersions: ["*"]
            operations: [UPDATE]
            resources: [gpucheckpointschedules/status]
        """);
    try {
      alerts.begins("ScheduleNotRunning");
      alerts.awaitFiring("ScheduleNotRunning");
    } finally {
      scenario.kubectl("delete", "validatingwebhookconfiguration", "refuses-schedules");
    }
    alerts.awaitEnd("ScheduleNotRunning");
  }

  @Test
  void storeNearlyFull() {
    try {
      alerts.begins("StoreNearlyFull");
      local.fullDisk(node);

      alerts.awaitFiring("StoreNearlyFull");
    } finally {
      local.restartAgent(node, Map.of());
    }
    alerts.awaitEnd("StoreNearlyFull");
  }

  @Test
  void artifactDamaged() {
    start(pod -> pod);
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    DamagedArtifact.MANIFEST_CUT_OFF.damage(local.artifacts(scenario.namespace()).get(0));

    alerts.begins("ArtifactDamaged");
    scenario.kubectl(
        "patch",
        "gckpt",
        "train-1",
        "--type=merge",
        "-p",
        "{\"spec\":{\"options\":{\"verifyAfter\":\"%s\"}}}".formatted(Instant.now()));

    alerts.awaitFiring("ArtifactDamaged");
    scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);
    alerts.awaitEnd("ArtifactDamaged");
  }

  @Test
  void agentDown() {
    alerts.begins("AgentDown");
    local.agent(node).kill();

    alerts.awaitFiring("AgentDown");
    local.agent(node).start();
    alerts.awaitEnd("AgentDown");
  }

  @Test
  void operatorDown() {
    alerts.begins("OperatorDown");
    local.operator().kill();

    alerts.awaitFiring("OperatorDown");
    local.operator().start();
    alerts.awaitEnd("OperatorDown");
  }

  @Test
  void webhookFailing() {
    scenario.label(Map.of("stasis.dev/protect", "enabled"));
    start(pod -> pod.editMetadata().addToLabels("stasis.dev/protect", "yes").endMetadata());
    local.operator().kill();
    try {
      alerts.begins("WebhookFailing");
      scenario.kubectl(
          "drain",
          node,
          "--force",
          "--delete-emptydir-data",
          "--pod-selector=stasis.dev/protect=yes",
          Scenario.TIMEOUT);
    } finally {
      scenario.kubectl("uncordon", node);
      local.operator().start();
    }
    firesAndEnds("WebhookFailing");
  }

  private void firesAndEnds(String alert) {
    alerts.awaitFiring(alert);
    alerts.awaitEnd(alert);
  }

  private Workload start(UnaryOperator<PodBuilder> change) {
    return Workload.start(
        scenario,
        "trainer",
        pod ->
            change
                .apply(pod)
                .editSpec()
                .addToNodeSelector("kubernetes.io/hostname", node)
                .endSpec());
  }

  private static PodBuilder labelled(PodBuilder pod) {
    return pod.editMetadata().addToLabels("app", "trainer").endMetadata();
  }

  /** Each dump by the agent waits until the folder is gone, as one of very much memory does. */
  private void holdDumps(Path folder) throws IOException {
    Path criu = folder.resolve("criu");
    Files.writeString(
        criu,
        """
        #!/bin/sh
        case " $* " in *" dump "*)
          : >%1$s/held
          while [ -e %1$s ]; do sleep 1; done
          exit 1 ;;
        esac
        exec %2$s "$@"
        """
            .formatted(folder, Commands.criu(Checkout.ofThisBuild())));
    Files.setPosixFilePermissions(criu, PosixFilePermissions.fromString("rwxr-xr-x"));
    local.restartAgent(node, Map.of("STASIS_AGENT_CRIU", criu.toString()));
  }
}
