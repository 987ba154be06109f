package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.ExecAction;
import dev.stasis.api.v1beta1.common.Hook;
import dev.stasis.api.v1beta1.common.Hooks;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the status of one checkpoint reports; the driver is held until the freeze is reported. */
class CheckpointReportTest {

  private static final int MIB = 16;
  private static final Orders ORDERS = Orders.ofSomebody();

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab.Placed source;

  @SuppressWarnings("NullAway.Init")
  private static String name;

  @SuppressWarnings("NullAway.Init")
  private static GpuNodeOperationStatus status;

  @BeforeAll
  static void checkpoint() throws InterruptedException {
    lab = new AgentLab(1, 128);
    source =
        lab.pod(
            "trainer",
            ContainerSpec.counter(
                lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--fork", "1"),
            Map.of());
    source.container().awaitSteps(3);
    // What the kubelet put in for $(TOKEN) is in the runtime's command line only.
    lab.cluster()
        .put(
            new PodBuilder(source.pod())
                .editSpec()
                .editFirstContainer()
                .withCommand("gpu-counter", "--token=$(TOKEN)")
                .endContainer()
                .endSpec()
                .build());
    lab.start();
    lab.engine().gpus().fault("checkpoint", "hold");
    Hooks hooks =
        new Hooks(null, List.of(new Hook(new ExecAction(List.of("resumed")), null, null, null)));
    name =
        lab.cluster()
            .create(ORDERS.checkpoint(source, how -> how.setHooks(hooks)))
            .getMetadata()
            .getName();
    lab.awaitHeld("checkpoint");
    lab.cluster().await(name, said -> said.getWorkload() == WorkloadState.FROZEN);
    lab.engine().gpus().release("checkpoint");
    status = lab.cluster().awaitEnd(name);
  }

  @AfterAll
  static void end() throws InterruptedException {
    source.close();
    lab.close();
  }

  @Test
  void theCheckpointSucceeds() {
    assertThat(status.getPhase()).as(status.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
    assertThat(status.getOutcome()).isEqualTo(Outcome.DONE);
    assertThat(status.getStep()).isNull();
  }

  @Test
  void theFreezeIsReportedWhileItLasts() {
    assertThat(lab.cluster().history(name))
        .anyMatch(
            said ->
                said.getWorkload() == WorkloadState.FROZEN
                    && said.getPhase() == OperationPhase.RUNNING);
  }

  @Test
  void everyPhaseHasItsTime() {
    assertThat(Objects.requireNonNull(status.getPhases()))
        .extracting(time -> time.phase())
        .containsExactly(
            OperationPhase.PENDING,
            OperationPhase.CLAIMED,
            OperationPhase.RUNNING,
            OperationPhase.SUCCEEDED);
  }

  @Test
  void theWorkloadIsReportedAndRuns() {
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(status.getSourceRunning()).isEqualTo(ConditionValue.TRUE);
    assertThat(status.getSourceProcesses()).isEqualTo(2);
    assertThat(status.getContainerId()).isEqualTo(source.container().id());
    source.container().awaitSteps(3);
    source.container().verify(MIB);
    lab.engine().assertNothingLeft();
  }

  @Test
  void theCommandLineIsThatOfThePodAndNotOfTheRuntime() throws IOException {
    assertThat(status.getArgv()).containsExactly("gpu-counter", "--token=$(TOKEN)");
    assertThat(
            Files.readString(
                lab.engine()
                    .store()
                    .resolve("ml/train-" + ORDERS.requester())
                    .resolve("workload.json")))
        .contains("--token=$(TOKEN)")
        .doesNotContain("/bin/gpu-counter");
  }

  @Test
  void theArtifactIsDescribed() {
    var artifact = Objects.requireNonNull(status.getArtifact());
    assertThat(artifact.getLocation()).isEqualTo("ml/train-" + ORDERS.requester());
    assertThat(artifact.getSha256()).hasSize(64);
    assertThat(artifact.getGpuBytes()).isGreaterThanOrEqualTo((long) MIB << 20);
    assertThat(artifact.getNode()).isEqualTo(AgentLab.NODE);
    assertThat(artifact.getImage()).isEqualTo("sha256:c0");
  }

  @Test
  void theHardwareIsDescribed() {
    var hardware = Objects.requireNonNull(status.getHardware());
    assertThat(hardware.gpus()).hasSize(1);
    assertThat(hardware.fingerprint()).contains("gpu.count=1").contains("gpu.model=");
  }

  @Test
  void theFiguresAreReported() {
    assertThat(Objects.requireNonNull(status.getTimings()).getFrozenMilliseconds()).isPositive();
    assertThat(status.getDataPath()).isIn(DataPath.MOVER, DataPath.CRIU);
    assertThat(Objects.requireNonNull(status.getRoom()).neededBytes()).isPositive();
  }

  @Test
  void thePodIsKeptBesideTheArtifact() throws IOException {
    assertThat(
            Files.readString(
                lab.engine().store().resolve("ml/train-" + ORDERS.requester()).resolve("pod.json")))
        .contains("trainer");
  }

  @Test
  void theHookAfterTheFreezeRunsOnce() {
    assertThat(lab.node().ran()).containsOnlyOnce("resumed");
  }
}
